// MPI calls as a split kernel makes them: gmpi::split::MPI_Send and so on for the whole grid,
// gmpi::split::single::MPI_Send and so on for one thread of it.
//
// A call that is met for the first time announces itself and returns true: its caller saves what
// lives across it and returns. The segment that resumes there passes the same call with `resumes`
// set: it gets what the call returned, in each thread's own memory, and returns false. What lies in
// global memory the driver has read and written by then.
#pragma once

#include "../mpi/buffers.hpp"
#include "../mpi/datatypes_device.hpp"
#include "../queue/call_result.hpp"
#include "frame_device.hpp"

namespace gmpi {

namespace device {

/// One thread's own copy of what the driver cannot read.
GMPI_OUT_OF_LINE void enclose(split::Request *request, const void *from, std::uint64_t bytes) {
  request->data_bytes = bytes;
  request->too_large = bytes > inline_bytes && bytes != unknown_bytes;
  if (bytes <= inline_bytes)
    copy_share(request->data, from, bytes, 0, 1);
}

/// Tells the driver of a call. The segment's end makes it visible. Inlined, since `function` is a
/// constant there and what is left are a few stores: a thread that makes them for the first time in
/// a segment waits for each piece of code.
GMPI_DEVICE void announce(split::Request *to, std::uint32_t number, std::uint32_t point,
                          Function function, Site site, const Arguments &a, std::uint8_t own) {
  split::Request &request = *to;
  request.number = number;
  request.point = point;
  request.function = function;
  request.calls = true;
  request.own = own;
  request.too_large = false;
  request.site = site;
  request.data_bytes = 0;
  encode_arguments(function, a, request.words);
  if (own & split::own_send) {
    Buffers buffers = buffers_of(function, a, message_bytes);
    enclose(to, buffers.in, buffers.in_bytes);
  } else if ((own & split::own_requests) && kind_of(function) == Kind::completion) {
    bool all = function == Function::Waitall;
    enclose(to, all ? a.requests : a.request,
            (all ? (a.count > 0 ? a.count : 0) : 1) * sizeof(MPI_Request));
  }
}

GMPI_OUT_OF_LINE void announce_barrier(split::Request *to, std::uint32_t number,
                                       std::uint32_t point) {
  to->number = number;
  to->point = point;
  to->calls = false;
}

GMPI_DEVICE MPI_Request *requests_of(Function function, const Arguments &a) {
  switch (function) {
  case Function::Isend:
  case Function::Irecv:
    return a.new_request;
  case Function::Waitall:
    return a.requests;
  default:
    return a.request;
  }
}
GMPI_DEVICE MPI_Status *status_of(Function function, const Arguments &a) {
  if (function == Function::Waitall)
    return a.statuses == MPI_STATUSES_IGNORE ? nullptr : a.statuses;
  return a.status == MPI_STATUS_IGNORE ? nullptr : a.status;
}
GMPI_DEVICE const void *sent_from(Function function, const Arguments &a) {
  return function == Function::Bcast     ? a.shared_buffer
         : a.send_buffer == MPI_IN_PLACE ? a.recv_buffer
                                         : a.send_buffer;
}
GMPI_DEVICE void *received_in(Function function, const Arguments &a) {
  return function == Function::Bcast ? a.shared_buffer : a.recv_buffer;
}

GMPI_DEVICE std::uint8_t own_memory(const Frame &frame, Function function, const Arguments &a) {
  unsigned own = 0;
  const void *in = sent_from(function, a), *out = received_in(function, a);
  const MPI_Request *requests = requests_of(function, a);
  const MPI_Status *status = status_of(function, a);
  if (in != nullptr && frame.is_own(in))
    own |= split::own_send;
  if (out != nullptr && frame.is_own(out))
    own |= split::own_receive;
  if (requests != nullptr && frame.is_own(requests))
    own |= split::own_requests;
  if (status != nullptr && frame.is_own(status))
    own |= split::own_status;
  if (a.result != nullptr && frame.is_own(a.result))
    own |= split::own_flag;
  return static_cast<std::uint8_t>(own);
}

/// `data` by value: kernel parameters that are indexed by a variable would be copied to local
/// memory by every thread, the whole Segment.
GMPI_OUT_OF_LINE void unpack(void *to, split::SmallData data, std::uint32_t bytes) {
  copy_share(to, data.words, bytes, 0, 1);
}

/// Copies what came with the segment to this thread's own memory.
GMPI_DEVICE void receive_own(const Segment &segment, void *to) {
  if (segment.data != nullptr)
    copy_share(to, segment.data, segment.data_bytes, 0, 1);
  else
    unpack(to, segment.small, segment.data_bytes);
}

/// Gives this thread what the call returned, where its memory is its own.
GMPI_DEVICE void return_own(const Frame &frame, Function function, const Arguments &a) {
  const Segment &segment = frame.segment();
  MPI_Status *status = status_of(function, a);
  void *received = function == Function::Waitall ? status : received_in(function, a);
  bool shared = false;
  if (segment.data_bytes != 0) {
    receive_own(segment, received);
    shared |= is_shared(received);
  }
  if (MPI_Request *requests = requests_of(function, a);
      requests != nullptr && frame.is_own(requests)) {
    if (function == Function::Waitall)
      for (int i = 0; i < a.count; ++i)
        requests[i] = MPI_REQUEST_NULL;
    else
      *requests = segment.result.request;
    shared |= is_shared(requests);
  }
  if (status != nullptr && function != Function::Waitall && segment.result.flag &&
      frame.is_own(status)) {
    *status = make_status(segment.result);
    shared |= is_shared(status);
  }
  if (a.result != nullptr && frame.is_own(a.result)) {
    *a.result = segment.result.flag;
    shared |= is_shared(a.result);
  }
  if (shared) // all threads of the block have written the same
    __syncthreads();
}

/// The block that has come last takes what is sent, if it is small, to the host.
GMPI_OUT_OF_LINE void gather(split::Request *request, unsigned char *outgoing, const void *in,
                             std::uint64_t bytes) {
  if (bytes > inline_bytes)
    return;
  copy_share(outgoing, in, bytes, thread_index(), block_threads());
  if (thread_index() == 0)
    request->gathered = true;
}

/// What is sent from global memory is whole once all blocks have come here. All threads call it; not
/// where some may have returned: the driver then copies the data itself.
GMPI_DEVICE void gather_small(const Frame &frame, Function function, const Arguments &a) {
  const Segment &segment = frame.segment();
  const void *in = sent_from(function, a);
  if (in == nullptr || segment.elected != nullptr || frame.is_own(in))
    return;
  bool last = false;
  __syncthreads();
  if (thread_index() == 0) {
    __threadfence();
    last = atomicAdd(segment.arrivals, 1u) == grid_blocks() - 1;
    __threadfence();
  }
  if (!__syncthreads_or(last))
    return;
  if (last)
    *segment.arrivals = 0;
  gather(segment.request, segment.outgoing, in, buffers_of(function, a, message_bytes).in_bytes);
}

/// Whether this is the call that the segment resumes from; the thread then gets what it returned.
GMPI_DEVICE bool resumes_here(const Frame &frame, bool &resumes, Function function,
                              const Arguments &a) {
  if (!resumes)
    return false;
  resumes = false;
  return_own(frame, function, a);
  return true;
}

template <int Point>
GMPI_DEVICE bool suspend(const Frame &frame, bool &resumes, Function function, Site site,
                         const Arguments &a) {
  if (resumes_here(frame, resumes, function, a))
    return false;
  if (frame.elect())
    announce(frame.segment().request, frame.next_number(), frame.first_point() + Point, function,
             site, a, own_memory(frame, function, a));
  gather_small(frame, function, a);
  return true;
}

/// A call that this thread alone makes.
template <int Point>
GMPI_DEVICE bool suspend_single(const Frame &frame, bool &resumes, Function function, Site site,
                                const Arguments &a) {
  if (resumes_here(frame, resumes, function, a))
    return false;
  const Segment &segment = frame.segment();
  segment.single->thread = grid_thread();
  announce(segment.single, segment.singles + 1, frame.first_point() + Point, function, site, a,
           own_memory(frame, function, a));
  return true;
}

} // namespace device

namespace split {

#define GMPI_PARAMETER(role) argument::role role
#define GMPI_ASSIGN(role) a.role = role;
#define GMPI_SPLIT_CALL(name, roles)                                                               \
  GMPI_SPLIT_CALL_BY(name, roles, suspend)                                                         \
  namespace single {                                                                               \
  GMPI_SPLIT_CALL_BY(name, roles, suspend_single)                                                  \
  }
#define GMPI_SPLIT_CALL_BY(name, roles, suspend)                                                   \
  template <int Point>                                                                             \
  GMPI_DEVICE bool MPI_##name(const Frame &frame, bool &resumes, Site site,                        \
                              GMPI_LIST(GMPI_PARAMETER, roles)) {                                  \
    Arguments a{};                                                                                 \
    GMPI_EACH(GMPI_ASSIGN, roles)                                                                  \
    return device::suspend<Point>(frame, resumes, Function::name, site, a);                        \
  }
#define GMPI_SPLIT_blocking(name, roles) GMPI_SPLIT_CALL(name, roles)
#define GMPI_SPLIT_nonblocking(name, roles) GMPI_SPLIT_CALL(name, roles)
#define GMPI_SPLIT_collective(name, roles) GMPI_SPLIT_CALL(name, roles)
#define GMPI_SPLIT_completion(name, roles) GMPI_SPLIT_CALL(name, roles)
#define GMPI_SPLIT_local(name, roles)
#define GMPI_SPLIT_terminal(name, roles)
#define GMPI_FUNCTION(name, start, kind, roles) GMPI_SPLIT_##kind(name, roles)
#include "../mpi/functions.def"
#undef GMPI_PARAMETER
#undef GMPI_ASSIGN
#undef GMPI_SPLIT_CALL
#undef GMPI_SPLIT_CALL_BY
#undef GMPI_SPLIT_blocking
#undef GMPI_SPLIT_nonblocking
#undef GMPI_SPLIT_collective
#undef GMPI_SPLIT_completion
#undef GMPI_SPLIT_local
#undef GMPI_SPLIT_terminal

/// A barrier of the grid without an MPI call.
template <int Point> GMPI_DEVICE bool grid_sync(const Frame &frame, bool &resumes) {
  if (resumes) {
    resumes = false;
    return false;
  }
  if (frame.elect())
    device::announce_barrier(frame.segment().request, frame.next_number(),
                             frame.first_point() + Point);
  return true;
}

} // namespace split
} // namespace gmpi
