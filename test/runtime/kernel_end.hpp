// The kernel's end of the queue, played by the test's own thread against a real progress engine:
// Attributes as a kernel posts them, Replies as it takes them, the copies it is asked for. Buffers
// are ordinary memory. Between its steps the engine makes its passes, so nothing depends on time.
#pragma once

#include "mpi_environment.hpp"

#include "mpi/buffers.hpp"
#include "proxy/progress.hpp"
#include "queue/reply_device.hpp"

#include <chrono>
#include <cstring>
#include <stdexcept>
#include <vector>

/// One call of a kernel.
struct KernelCall {
  gmpi::Function function;
  gmpi::Buffers buffers;
  std::uint32_t slot, serial;
  std::vector<gmpi::ReplyKind> kinds; ///< of the Replies so far
  std::vector<std::uint64_t> copied;  ///< lengths of the copies so far

  gmpi::KernelRequest request() const { return {slot, 0, serial & gmpi::serial_mask}; }
};

class KernelEnd {
public:
  /// Longer data is MPI's to read and write where it lies.
  std::uint64_t direct_above = gmpi::never_direct;
  /// So much received data may come with a Reply.
  std::uint32_t beside = 0;
  gmpi::Progress progress{0};
  const gmpi::Context &context = progress.queue().context();

  static std::uint64_t bytes(int count, MPI_Datatype datatype) {
    MPI_Aint lower = 0, extent = 0;
    PMPI_Type_get_extent(datatype, &lower, &extent);
    return count <= 0 ? 0 : static_cast<std::uint64_t>(count * extent);
  }

  /// Posts the call's Attribute, and what of its data goes beside it. `sure`: a small send is one that
  /// MPI is known to take.
  KernelCall start(gmpi::Function function, const gmpi::Arguments &arguments, bool sure = true) {
    KernelCall call{function, gmpi::buffers_of(function, arguments, bytes), 0, 0, {}, {}};
    gmpi::Attribute attribute = about(function);
    attribute.in_bytes = call.buffers.in_bytes;
    attribute.inline_in = attribute.in_bytes <= gmpi::inline_bytes;
    attribute.tagged = attribute.in_bytes != 0 && attribute.in_bytes <= gmpi::tagged_bytes;
    attribute.detached = function == gmpi::Function::Send && attribute.inline_in && sure;
    attribute.beside = beside;
    attribute.direct_in = is_direct(function, call.buffers.in_bytes);
    attribute.direct_out = is_direct(function, call.buffers.out_bytes);
    attribute.arguments = arguments;
    if (!attribute.detached)
      hold_slot(call, attribute);
    post(attribute, call.buffers.in);
    return call;
  }

  /// The same where the device does not know the datatype.
  KernelCall start_unknown(gmpi::Function function, const gmpi::Arguments &arguments) {
    KernelCall call{function, {}, 0, 0, {}, {}};
    gmpi::Attribute attribute = about(function);
    attribute.in_bytes = gmpi::unknown_bytes;
    attribute.arguments = arguments;
    hold_slot(call, attribute);
    post(attribute, nullptr);
    return call;
  }

  /// A kernel waits for, or tests, a request that is none of its own.
  KernelCall start(gmpi::Function function, std::uint64_t request) {
    KernelCall call{function, {}, 0, 0, {}, {}};
    gmpi::Attribute attribute = about(function);
    attribute.in_bytes = request;
    hold_slot(call, attribute);
    post(attribute, nullptr);
    return call;
  }

  /// The runtime's own requests: copied, waiting, leave.
  void tell(gmpi::Function function, std::uint32_t slot, std::uint32_t launch = 0) {
    gmpi::Attribute attribute = about(function);
    attribute.slot = slot;
    attribute.launch = launch;
    post(attribute, nullptr);
  }

  /// Lets the engine make passes until it has nothing to do for a while.
  void settle() {
    for (int idle = 0; idle < 50; ++idle)
      if (progress.work())
        idle = 0;
  }

  /// The call's next Reply, if it is there once the engine has nothing more to do.
  bool replied(KernelCall &call, gmpi::Reply &reply) {
    settle();
    return take(call, reply);
  }
  bool replied(KernelCall &call) {
    gmpi::Reply reply;
    return replied(call, reply);
  }

  gmpi::Reply next(KernelCall &call) {
    gmpi::Reply reply;
    auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!take(call, reply)) {
      progress.work();
      if (std::chrono::steady_clock::now() > end)
        throw std::runtime_error(std::string("no Reply to ") + name_of(call.function));
    }
    return reply;
  }

  /// Makes the copy that `reply` asks for, and says so. False where it asks for none.
  bool copy(KernelCall &call, const gmpi::Reply &reply) {
    auto *out = static_cast<unsigned char *>(call.buffers.out) + reply.offset;
    auto *in = static_cast<const unsigned char *>(call.buffers.in) + reply.offset;
    if (!asks_for_copy(reply.kind))
      return false;
    bool sends = reply.kind == gmpi::ReplyKind::copy_in || reply.kind == gmpi::ReplyKind::copy_in_last;
    sends ? std::memcpy(reply.address, in, reply.bytes) : std::memcpy(out, reply.address, reply.bytes);
    call.copied.push_back(reply.bytes);
    tell(gmpi::Function::copied, call.slot);
    return true;
  }

  /// Carries the call to its last Reply, which it returns, and gives the slot back.
  gmpi::Reply finish(KernelCall &call) {
    gmpi::Reply reply = next(call);
    while (copy(call, reply) && reply.kind != gmpi::ReplyKind::copy_out_last &&
           reply.kind != gmpi::ReplyKind::copy_in_last)
      reply = next(call);
    if (reply.kind == gmpi::ReplyKind::done_here)
      std::memcpy(call.buffers.out, reply.data, reply.bytes);
    else if (reply.kind == gmpi::ReplyKind::done_beside)
      gmpi::device::read_beside(context, call.slot, static_cast<std::uint32_t>(reply.bytes),
                                static_cast<unsigned char *>(call.buffers.out));
    else if (reply.kind == gmpi::ReplyKind::done && reply.bytes != 0)
      std::memcpy(call.buffers.out, context.payload + std::size_t(call.slot) * gmpi::inline_bytes,
                  reply.bytes);
    if (reply.kind == gmpi::ReplyKind::copy_in_last)
      return reply; // not the last
    gmpi::device::release_slot(context, call.slot);
    return reply;
  }

  gmpi::Reply finish(gmpi::Function function, const gmpi::Arguments &arguments) {
    KernelCall call = start(function, arguments);
    gmpi::Reply reply = finish(call);
    return reply.kind == gmpi::ReplyKind::copy_in_last ? finish(call) : reply;
  }

private:
  bool is_direct(gmpi::Function function, std::uint64_t bytes) const {
    return gmpi::takes_device_memory(function) && bytes > direct_above;
  }

  static gmpi::Attribute about(gmpi::Function function) {
    gmpi::Attribute attribute{};
    attribute.function = function;
    attribute.scope = gmpi::Scope::thread;
    attribute.site = {1, 2};
    return attribute;
  }

  void hold_slot(KernelCall &call, gmpi::Attribute &attribute) {
    call.slot = attribute.slot = gmpi::device::acquire_slot(context);
    attribute.turn = context.records[call.slot].turn;
    call.serial = attribute.serial = context.records[call.slot].serial;
  }

  /// Where the ring is full a kernel waits; here the engine has to empty it.
  void post(const gmpi::Attribute &attribute, const void *data) {
    while (context.ring_state->ticket >= *context.consumed + gmpi::ring_slots)
      progress.work();
    unsigned long long ticket = gmpi::device::take_ticket(context);
    if (attribute.tagged)
      gmpi::device::write_data(context, ticket, data, static_cast<int>(attribute.in_bytes), 0, 1);
    else if (attribute.inline_in && attribute.in_bytes != 0)
      std::memcpy(gmpi::device::ring_payload(context, ticket), data, attribute.in_bytes);
    gmpi::device::write_attribute(context, ticket, attribute);
  }

  bool take(KernelCall &call, gmpi::Reply &reply) {
    std::uint32_t turn = context.records[call.slot].turn;
    if (!gmpi::device::try_reply(context, call.slot, turn, true, reply))
      return false;
    call.kinds.push_back(reply.kind);
    return true;
  }
};

// Arguments, by what the tests vary.

inline gmpi::Arguments to(int rank, int tag, const void *data, int count,
                          MPI_Datatype datatype = MPI_BYTE, MPI_Comm comm = MPI_COMM_SELF) {
  gmpi::Arguments a{};
  a.send_buffer = data;
  a.send_count = count;
  a.send_datatype = datatype;
  a.dest = rank;
  a.send_tag = tag;
  a.comm = comm;
  return a;
}

inline gmpi::Arguments from(int rank, int tag, void *data, int room,
                            MPI_Datatype datatype = MPI_BYTE, MPI_Comm comm = MPI_COMM_SELF) {
  gmpi::Arguments a{};
  a.recv_buffer = data;
  a.recv_count = room;
  a.recv_datatype = datatype;
  a.source = rank;
  a.recv_tag = tag;
  a.comm = comm;
  return a;
}

inline gmpi::Arguments both(const gmpi::Arguments &send, const gmpi::Arguments &receive) {
  gmpi::Arguments a = receive;
  a.send_buffer = send.send_buffer;
  a.send_count = send.send_count;
  a.send_datatype = send.send_datatype;
  a.dest = send.dest;
  a.send_tag = send.send_tag;
  return a;
}

inline std::vector<unsigned char> pattern(std::size_t bytes, unsigned seed) {
  std::vector<unsigned char> data(bytes);
  for (std::size_t i = 0; i < bytes; ++i)
    data[i] = static_cast<unsigned char>(seed + i * 7 + i / 251);
  return data;
}
