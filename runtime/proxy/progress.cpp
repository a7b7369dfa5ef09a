// From Attribute to Reply.
#include "progress.hpp"

#include "../launch/statistics.hpp"
#include "../peer/hosts/links.hpp"
#include "errors.hpp"
#include "exit.hpp"
#include "report.hpp"
#include "settings.hpp"
#include "transports.hpp"
#include "true_buffers.hpp"

#include <cstring>
#include <utility>

namespace gmpi {

namespace {

bool is_intercommunicator(MPI_Comm comm) {
  int inter = 0;
  return comm != MPI_COMM_NULL && PMPI_Comm_test_inter(comm, &inter) == MPI_SUCCESS && inter;
}

} // namespace

Progress::Progress(int device)
    : queue_(device), operations_(request_slots + split::driver_slots) {
  for (Operation &operation : operations_)
    by_slot_.push_back(&operation);
}

Progress::~Progress() { slots_.free_memory(); }

bool Progress::work() {
  bool moved = take_attributes();
  moved |= take_handed();
  moved |= test_running();
  moved |= serve_wanting();
  return moved;
}

bool Progress::take_progress() { return std::exchange(progressed_, false); }

int Progress::take_ended_launches() { return std::exchange(ended_launches_, 0); }

bool Progress::take_attributes() {
  constexpr int at_once = 64; // so that what is running is tested now and then
  AttributeRing &ring = queue_.ring();
  int taken = 0;
  for (; taken < at_once && ring.peek(); ++taken) {
    Attribute head;
    ring.read_head(head);
    if (settings().stats && !head.peer) // the proxy is told of a wait, and makes no call
      count_call(head);
    begin(head, ring.data(), [&](Attribute &to) { ring.read(to); });
    ring.release();
  }
  caught_up_ = taken < at_once;
  return taken != 0;
}

void Progress::count_call(const Attribute &attribute) {
  const launch::KernelEntry *kernel = queue_.launch_record(attribute.launch).kernel;
  if (kernel != nullptr && kind_of(attribute.function) != Kind::internal)
    launch::count(*kernel, launch::Lowering::queue, {.calls = 1});
}

/// Small sends that nobody waits for hold no request slot; their number is not limited.
Operation &Progress::detached_operation() {
  if (free_detached_.empty())
    return operations_.emplace_back();
  Operation &operation = *free_detached_.back();
  free_detached_.pop_back();
  return operation;
}

/// The operation is over and its slot, if it has one, the kernel's again.
void Progress::end(Operation &operation) {
  operation.phase = Phase::idle;
  if (is_buffered(operation.attribute))
    free_detached_.push_back(&operation);
}

void Progress::begin(const Attribute &attribute, const unsigned char *data) {
  begin(attribute, data, [&](Attribute &to) { to = attribute; });
}
/// `read` puts the whole Attribute where it stays: one copy less for each.
template <class Read>
void Progress::begin(const Attribute &attribute, const unsigned char *data, Read read) {
  progressed_ |= !tells_flag(attribute.function);
  Operation &operation =
      is_buffered(attribute) ? detached_operation() : operations_[attribute.slot];
  switch (attribute.function) {
  case Function::leave:
    queue_.end_launch(attribute.launch);
    ++ended_launches_;
    return;
  case Function::copied:
    return copied(operation);
  case Function::waiting:
    return note_wait(operation, attribute);
  case Function::carried:
    return end(operation);
  case Function::progress:
    return;
  case Function::offer:
    if (peer::Links *links = peer::Links::instance())
      links->offers().offer(attribute.in_bytes);
    return;
  case Function::map_offer:
    if (peer::Links *links = peer::Links::instance())
      links->offers().map(attribute.in_bytes);
    return;
  default:
    break;
  }
  operations_[attribute.slot].completed_use = Operation::no_use;
  std::atomic_thread_fence(std::memory_order_release); // before anything else of it changes
  read(operation.attribute);
  operation.turn = attribute.turn;
  operation.error = MPI_SUCCESS;
  operation.source = MPI_ANY_SOURCE;
  operation.tag = MPI_ANY_TAG;
  operation.moved = operation.received = operation.message_bytes = 0;
  operation.pending = 0;
  operation.requests[0] = operation.requests[1] = operation.foreign = MPI_REQUEST_NULL;
  operation.started = roughly_now();
  operation.waited = false;
  operation.host_waits_since = 0;
  if ((kind_of(attribute.function) != Kind::nonblocking && !attribute.detached) || attribute.peer)
    note_wait(operation, attribute);
  operation.in = {};
  operation.out = {};
  if (attribute.peer) {
    operation.phase = Phase::running;
    return;
  }
  switch (kind_of(attribute.function)) {
  case Kind::local:
  case Kind::terminal:
    return answer_query(operation);
  case Kind::completion:
    return wait_for_foreign(operation);
  default:
    return communicate(operation, data);
  }
}

/// `attribute` says where: the call's own, or that of a wait for its request.
void Progress::note_wait(Operation &operation, const Attribute &attribute) {
  operation.waited = true;
  operation.waited_since = attribute.function == Function::waiting ? roughly_now() : operation.started;
  operation.wait_scope = attribute.scope;
  operation.wait_site = attribute.site;
  operation.wait_launch = attribute.launch;
}

void Progress::answer_query(Operation &operation) {
  MpiCallsFor naming(operation);
  const Arguments &arguments = operation.attribute.arguments;
  Reply reply = make_reply(operation, ReplyKind::answer);
  int number = 0;
  switch (operation.attribute.function) {
  case Function::Comm_rank:
    reply.error = PMPI_Comm_rank(arguments.comm, &number);
    reply.bytes = static_cast<std::uint64_t>(number);
    break;
  case Function::Comm_size:
    reply.error = PMPI_Comm_size(arguments.comm, &number);
    reply.bytes = static_cast<std::uint64_t>(number);
    break;
  case Function::Wtime:
    reply.bytes = static_cast<std::uint64_t>((PMPI_Wtime() - queue_.context().wtime_base) *
                                             wtime_ticks);
    break;
  default:
    say("MPI_Abort(%d) in a kernel, at %s", arguments.error_code,
        place(operation.attribute.site).c_str());
    end_job(arguments.comm, arguments.error_code);
  }
  end(operation);
  answer(operation, reply);
}

void Progress::communicate(Operation &operation, const unsigned char *data) {
  MpiCallsFor naming(operation);
  const Attribute &attribute = operation.attribute;
  if (attribute.in_bytes == truncated_bytes)
    return refuse(operation, MPI_ERR_TRUNCATE, "the message is longer than the receive's buffer");
  if (attribute.in_bytes == differing_bytes)
    fatal("%s at %s: another rank makes this call with another count", name_of(attribute.function),
          place(attribute.site).c_str());
  if (is_handed(operation))
    if (const peer::Links *links = peer::Links::instance();
        links != nullptr && links->has(attribute.arguments.comm))
      fatal("%s at %s: a split kernel's calls cannot use a communicator whose messages kernels carry "
            "themselves (GMPI_PEER, gmpi_assert_kernel_only); run it with GMPI_LOWER=queue, or with a "
            "smaller grid",
            name_of(attribute.function), place(attribute.site).c_str());
  if (probes(attribute.function))
    return start_probe(operation);
  if (settings().stats)
    transports::count_reason(attribute);
  if (attribute.in_bytes == unknown_bytes)
    return refuse(operation, MPI_ERR_TYPE,
                  "a kernel can send and receive predefined datatypes only, and this is none");
  // Who sends and who receives there does not depend on the rank alone: true_buffers() does not know.
  if (kind_of(attribute.function) == Kind::collective &&
      is_intercommunicator(attribute.arguments.comm))
    return refuse(operation, MPI_ERR_COMM,
                  "a kernel's collectives are for intracommunicators, and this communicator is none");
  Buffers buffers = true_buffers(attribute);
  if (settings().stats)
    transports::count(attribute, buffers, is_handed(operation));
  if (buffers.out_bytes <= inline_bytes)
    operation.out = {payload(attribute.slot), buffers.out_bytes, HostData::payload};
  else if (attribute.direct_out)
    operation.out = {static_cast<unsigned char *>(buffers.out), buffers.out_bytes, HostData::direct};
  else
    operation.out = allocate(buffers.out_bytes);
  if (buffers.in_bytes != 0 && attribute.direct_in) {
    auto *in = const_cast<void *>(buffers.in); // MPI only reads it
    operation.in = {static_cast<unsigned char *>(in), buffers.in_bytes, HostData::direct};
  } else if (buffers.in_bytes != 0 && !attribute.inline_in) {
    operation.in = allocate(buffers.in_bytes);
    return move_in(operation);
  } else if (buffers.in_bytes != 0) {
    operation.beside.assign(data, data + buffers.in_bytes);
    operation.in = {operation.beside.data(), buffers.in_bytes, HostData::beside};
  }
  start_mpi(operation);
}

/// From here on the host may take up a nonblocking call's end.
void Progress::complete(Operation &operation) {
  operation.phase = Phase::complete;
  operation.completed_use = operation.attribute.serial & serial_mask;
}

/// Where short data that has been received goes: with the Reply itself, as far as the kernel that waits
/// for it looks there.
ReplyKind Progress::kind_of_done(const Operation &operation, std::size_t bytes) {
  if (bytes == 0 || operation.error != MPI_SUCCESS || is_handed(operation))
    return ReplyKind::done;
  if (bytes <= reply_head_bytes)
    return ReplyKind::done_here;
  if (bytes <= operation.attribute.beside)
    return ReplyKind::done_beside;
  return ReplyKind::done;
}

/// The last Reply of a call whose received data, if any, lies in its payload area.
void Progress::done(Operation &operation, std::size_t inline_bytes_received) {
  if (operation.attribute.detached && operation.error != MPI_SUCCESS)
    say("%s at %s failed after it had returned to the kernel: %s",
        name_of(operation.attribute.function), place(operation.attribute.site).c_str(),
        text_of(operation.error).c_str());
  Reply reply = make_reply(operation, kind_of_done(operation, inline_bytes_received));
  reply.bytes = inline_bytes_received;
  if (reply.kind == ReplyKind::done_here)
    std::memcpy(reply.data, operation.out.address, reply.bytes);
  free(operation.in);
  if (operation.out.kind != HostData::payload)
    free(operation.out);
  bool nonblocking = kind_of(operation.attribute.function) == Kind::nonblocking;
  answer(operation, reply);
  if (nonblocking)
    complete(operation);
  else
    end(operation);
}

/// A call that MPI may allow and this runtime does not: the communicator's error handler decides.
void Progress::refuse(Operation &operation, int error, const char *why) {
  const Attribute &attribute = operation.attribute;
  say("%s at %s: %s", name_of(attribute.function), place(attribute.site).c_str(), why);
  PMPI_Comm_call_errhandler(attribute.arguments.comm, error);
  fail(operation, error);
}

void Progress::fail(Operation &operation, int error) {
  operation.error = error;
  operation.received = 0;
  done(operation);
}

void Progress::answer(Operation &operation, const Reply &reply) {
  if (operation.attribute.detached)
    return;
  operation.turn = (operation.turn + 1) & 0xffff;
  if (is_handed(operation))
    slots_.reply(operation.attribute.slot - request_slots, operation.turn, reply);
  else
    queue_.reply(operation.attribute.slot, operation.turn, reply,
                 reply.kind == ReplyKind::done_beside ? operation.out.address : nullptr);
}

} // namespace gmpi
