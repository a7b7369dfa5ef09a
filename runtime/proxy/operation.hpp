// One call as the proxy carries it out: from its Attribute, through copies and MPI's nonblocking
// form, to the last Reply. There is one per request slot, and one per small send in flight.
//
// Invariant: phase tells whose move it is. idle: the slot is the kernel's; copying_in, copying_out:
// the kernel's threads are copying and will say `copied`; starting: a piece of bounce memory is
// awaited; running: MPI's; complete: finished, the Reply (or a host MPI_Wait) yet to be taken up.
#pragma once

#include "device_queue.hpp"

#include <atomic>
#include <vector>

namespace gmpi {

enum class Phase : std::uint8_t { idle, starting, copying_in, running, copying_out, complete };

/// Message data on the host: in the request slot's payload area, in memory of the operation's own
/// (data that came beside the Attribute), in the staging pool or, where that is full, in ordinary
/// memory that is filled and emptied in parts through bounce memory. Or it stays where it is, in the
/// user's device memory, which MPI takes.
struct HostData {
  unsigned char *address = nullptr;
  std::size_t bytes = 0;
  enum { none, payload, beside, staged, pageable, direct } kind = none;
};

/// What one thread writes and others look at: whoever sees a value sees what was written before it.
/// (The default order of std::atomic would have the proxy wait for each Reply to be written.)
template <class T> class Published {
public:
  Published(T value) : value_(value) {}
  Published &operator=(T value) {
    value_.store(value, std::memory_order_release);
    return *this;
  }
  operator T() const { return value_.load(std::memory_order_acquire); }

private:
  std::atomic<T> value_;
};

struct Operation {
  static constexpr std::uint32_t no_use = ~0u;

  Published<Phase> phase{Phase::idle};
  /// Which use of the slot, by its request's serial number, a host MPI_Wait may take up; it is read
  /// before anything else of the operation.
  Published<std::uint32_t> completed_use{no_use};
  Attribute attribute{};
  std::uint32_t turn = 0;
  HostData in, out;
  std::vector<unsigned char> beside; ///< room for data that came beside the Attribute
  unsigned char *piece = nullptr; ///< bounce memory in use
  std::size_t moved = 0;          ///< bytes of the copy in parts that are done
  MPI_Request requests[2];
  int pending = 0; ///< requests not complete
  MPI_Request foreign; ///< a request of the host program's, waited for by a kernel
  int error = MPI_SUCCESS;
  int source = MPI_ANY_SOURCE, tag = MPI_ANY_TAG;
  std::size_t received = 0;      ///< bytes to hand to the kernel
  std::size_t message_bytes = 0; ///< for the status
  bool waited = false;           ///< somebody is blocked until this is done
  Clock::time_point started;
  // Who waits: the call itself or, for a nonblocking one, the wait for its request.
  Clock::time_point waited_since;
  Scope wait_scope = Scope::thread;
  Site wait_site{};
  std::uint32_t wait_launch = 0;
  Published<Clock::rep> host_waits_since{0}; ///< 0 unless the host program is in MPI_Wait for it
};

/// A standard-mode send whose data is the host's: it is done as soon as MPI has taken it, and then
/// needs no request slot. Where the Attribute is detached the kernel does not even wait for that.
inline bool is_buffered(const Attribute &attribute) {
  return attribute.function == Function::Send && attribute.inline_in;
}

/// What the operation has come to.
inline Reply make_reply(const Operation &operation, ReplyKind kind) {
  Reply reply{};
  reply.kind = kind;
  reply.error = operation.error;
  reply.source = operation.source;
  reply.tag = operation.tag;
  reply.message_bytes = operation.message_bytes;
  return reply;
}

} // namespace gmpi
