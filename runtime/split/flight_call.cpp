// A launch's MPI calls: what a kernel's threads do under --lower=queue (queue/call_device.hpp),
// done by the driver. Data in global memory it copies itself, by way of the segments' stream, or
// MPI is given it where it lies; what is each thread's own comes in the Request and goes with the
// next Segment.
#include "../queue/call_result.hpp"
#include "flight.hpp"

#include "../proxy/proxy.hpp"
#include "../proxy/report.hpp"
#include "../proxy/settings.hpp"
#include "../proxy/true_buffers.hpp"
#include "../transport/gpu_aware.hpp"

#include <cstring>

namespace gmpi::split {

namespace {

/// Bytes in memory; unknown_bytes where the datatype is not a predefined one.
std::uint64_t message_bytes(int count, MPI_Datatype datatype) {
  if (count <= 0)
    return 0;
  int integers = 0, addresses = 0, datatypes = 0, combiner = MPI_COMBINER_NAMED;
  MPI_Aint lower = 0, extent = 0;
  if (datatype == MPI_DATATYPE_NULL ||
      PMPI_Type_get_envelope(datatype, &integers, &addresses, &datatypes, &combiner) !=
          MPI_SUCCESS ||
      combiner != MPI_COMBINER_NAMED ||
      PMPI_Type_get_extent(datatype, &lower, &extent) != MPI_SUCCESS)
    return unknown_bytes;
  return static_cast<std::uint64_t>(count) * static_cast<std::uint64_t>(extent);
}

/// A small standard send is done once its data is the host's, unless MPI may refuse it.
bool is_accepted(const Arguments &a) {
  static const int tag_upper_bound = [] {
    int *bound = nullptr, known = 0;
    PMPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &bound, &known);
    return known ? *bound : 32767;
  }();
  int between = 0, size = 0;
  if (a.send_count < 0 || a.send_tag < 0 || a.send_tag > tag_upper_bound || a.dest < 0 ||
      a.comm == MPI_COMM_NULL || PMPI_Comm_test_inter(a.comm, &between) != MPI_SUCCESS || between)
    return false;
  PMPI_Comm_size(a.comm, &size);
  return a.dest < size;
}

/// Whether a message goes to the rank that sends it; true where MPI will refuse it.
bool goes_to_itself(Function function, const Arguments &a) {
  int between = 0, rank = 0;
  if (kind_of(function) == Kind::collective)
    return false;
  if (a.comm == MPI_COMM_NULL || PMPI_Comm_test_inter(a.comm, &between) != MPI_SUCCESS)
    return true;
  PMPI_Comm_rank(a.comm, &rank);
  return !between && rank == a.dest;
}

} // namespace

Task Flight::call() {
  if (asked_->too_large)
    refuse_large(asked_->data_bytes);
  if (kind_of(asked_->function) == Kind::completion)
    co_await complete_requests();
  else
    co_await communicate();
  // Calls that the next segment's threads put into the ring come after this one.
  co_await until([this] { return progress_.handed_taken() >= handed_; });
  write_results();
}

Attribute Flight::make_attribute(Function function) const {
  Attribute attribute{};
  attribute.function = function;
  attribute.scope = asked_ == single_ ? Scope::thread : Scope::grid;
  attribute.slot = request_slots + slot_;
  attribute.launch = segment_.launch;
  attribute.turn = turn_;
  attribute.site = asked_->site;
  attribute.arguments = asked_->arguments();
  return attribute;
}

void Flight::hand_over(const Attribute &attribute, const unsigned char *data) {
  handed_ = progress_.hand_over(attribute, data);
}

/// Takes the next Reply, if it has come.
bool Flight::replied() {
  std::uint32_t turn = progress_.slots().turn(slot_);
  if (turn == turn_)
    return false;
  turn_ = turn;
  reply_ = progress_.slots().last_reply(slot_);
  return true;
}

Task Flight::communicate() {
  const Function function = asked_->function;
  const Arguments &a = asked_->arguments();
  const bool nonblocking = kind_of(function) == Kind::nonblocking;
  if (goes_nowhere(function, a)) {
    segment_.result = nothing_received(MPI_PROC_NULL);
    if (nonblocking)
      segment_.result.request = null_peer_request();
    co_return;
  }
  turn_ = progress_.slots().turn(slot_);
  Attribute attribute = make_attribute(function);
  Buffers buffers = buffers_of(function, a, message_bytes);
  if (buffers.in_bytes == unknown_bytes || buffers.out_bytes == unknown_bytes ||
      (own(own_send) && asked_->data_bytes != buffers.in_bytes)) {
    attribute.in_bytes = unknown_bytes; // the proxy refuses it
    attribute.inline_in = true;
    buffers = {};
  } else {
    attribute.in_bytes = buffers.in_bytes;
    attribute.inline_in = buffers.in_bytes <= inline_bytes;
    attribute.detached = function == Function::Send && attribute.inline_in && is_accepted(a);
    const std::uint64_t above = gpu_aware::above(launch::Lowering::split);
    const bool takes = takes_device_memory(function);
    attribute.direct_in = takes && !own(own_send) && buffers.in_bytes > above &&
                          (gpu_aware::takes_own_messages() || !goes_to_itself(function, a));
    attribute.direct_out = takes && !own(own_receive) && buffers.out_bytes > above;
    buffers = true_buffers(attribute);
    if (own(own_receive) && buffers.out_bytes > inline_bytes)
      refuse_large(buffers.out_bytes);
  }
  if (attribute.inline_in && buffers.in_bytes != 0)
    co_await gather(buffers);
  if (attribute.detached) {
    attribute.slot = 0;
    hand_over(attribute, outgoing_);
    segment_.result = result_of(Reply{});
    co_return;
  }
  co_await follow(attribute, buffers);
}

/// Brings small data to the host.
Task Flight::gather(const Buffers &buffers) {
  if (own(own_send)) {
    std::memcpy(outgoing_, asked_->data, buffers.in_bytes);
  } else if (!asked_->gathered) {
    copy(outgoing_, buffers.in, buffers.in_bytes);
    co_await copies_done();
  }
}

/// A slot for the new request; waits while there is none.
Task Flight::take_slot(Attribute &attribute) {
  std::uint32_t slot = 0;
  co_await until([&, said = false, start = Clock::now()]() mutable {
    if (progress_.slots().take(slot, attribute.serial))
      return true;
    if (!said && Clock::now() - start > std::chrono::duration<double>(settings().stall_seconds)) {
      said = true;
      say("%s at %s waits: %u requests of split kernels are unfinished, and no more can be",
          name_of(asked_->function), place(asked_->site).c_str(), driver_slots - launches_at_once);
    }
    return false;
  });
  attribute.slot = request_slots + slot;
  attribute.turn = progress_.slots().turn(slot);
  segment_.result.request =
      encode_request({slot, static_cast<std::uint32_t>(device_) | driver_device, attribute.serial});
}

/// Hands the call over and serves the copies that it needs, to its last Reply or, for a nonblocking
/// one, until its data is the host's.
Task Flight::follow(Attribute &attribute, const Buffers &buffers) {
  const bool nonblocking = kind_of(attribute.function) == Kind::nonblocking;
  if (nonblocking)
    co_await take_slot(attribute);
  Slots &slots = progress_.slots();
  const std::uint32_t slot = attribute.slot - request_slots;
  std::uint32_t turn = attribute.turn;
  hand_over(attribute, outgoing_);
  if (nonblocking && (attribute.inline_in || attribute.direct_in))
    co_return;
  for (;;) {
    co_await until([&] { return slots.turn(slot) != turn; });
    turn = slots.turn(slot);
    const Reply reply = slots.last_reply(slot);
    if (asks_for_copy(reply.kind))
      co_await serve_copy(attribute, buffers, reply);
    else if (!nonblocking && reply.bytes != 0)
      receive(buffers, 0, slots.payload(slot), reply.bytes);
    if (reply.kind == ReplyKind::copy_in || reply.kind == ReplyKind::copy_out)
      continue;
    if (!nonblocking) // else the request has the rest, its error too
      segment_.result = result_of(reply);
    co_return;
  }
}

/// What a Reply asks for, and tells the proxy when it is done.
Task Flight::serve_copy(const Attribute &attribute, const Buffers &buffers, const Reply &reply) {
  if (reply.kind == ReplyKind::copy_in || reply.kind == ReplyKind::copy_in_last)
    copy(reply.address, static_cast<const unsigned char *>(buffers.in) + reply.offset, reply.bytes);
  else
    receive(buffers, reply.offset, static_cast<unsigned char *>(reply.address), reply.bytes);
  co_await copies_done();
  Attribute copied = make_attribute(Function::copied);
  copied.slot = attribute.slot;
  progress_.hand_over(copied);
}

/// Waits for the copies under way.
Task Flight::copies_done() {
  mark_.set(stream_);
  co_await until([this] { return mark_.is_passed(); });
  if (mark_.error() != cudaSuccess)
    fatal("%s at %s: cannot copy: %s", name_of(asked_->function), place(asked_->site).c_str(),
          cudaGetErrorString(mark_.error()));
}

/// In the order of the segments' stream.
void Flight::copy(void *to, const void *from, std::size_t bytes) {
  if (cudaError_t error = cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream_);
      error != cudaSuccess)
    fatal("%s at %s: cannot copy %zu bytes: %s", name_of(asked_->function),
          place(asked_->site).c_str(), bytes, cudaGetErrorString(error));
}

void Flight::receive(const Buffers &buffers, std::size_t offset, const unsigned char *from,
                     std::size_t bytes) {
  if (own(own_receive))
    deliver_own(from, offset, bytes);
  else
    copy(static_cast<unsigned char *>(buffers.out) + offset, from, bytes);
}

void Flight::deliver_own(const void *from, std::size_t offset, std::size_t bytes) {
  std::size_t end = offset + bytes;
  if (end > inline_bytes)
    refuse_large(end);
  bool small = end <= segment_data_bytes;
  std::memcpy((small ? reinterpret_cast<unsigned char *>(segment_.small.words) : incoming_) +
                  offset,
              from, bytes);
  segment_.data = small ? nullptr : arrived_;
  segment_.data_bytes = static_cast<std::uint32_t>(end);
}

void Flight::refuse_large(std::uint64_t bytes) const {
  fatal("%s at %s: %llu bytes in a variable of the kernel's own; a kernel that is split can send, "
        "receive "
        "and wait for %u bytes there at most: use global memory",
        name_of(asked_->function), place(asked_->site).c_str(),
        static_cast<unsigned long long>(bytes), inline_bytes);
}

} // namespace gmpi::split
