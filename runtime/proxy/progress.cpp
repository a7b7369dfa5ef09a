// From Attribute to Reply.
#include "progress.hpp"

#include "../launch/statistics.hpp"
#include "../mpi/buffers.hpp"
#include "../peer/hosts/links.hpp"
#include "../transport/gpu_aware.hpp"
#include "errors.hpp"
#include "exit.hpp"
#include "report.hpp"
#include "settings.hpp"
#include "start.hpp"
#include "transports.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace gmpi {

namespace {

thread_local const Operation *current = nullptr;

/// Names the operation for the error handler while an MPI call is made for it.
struct Current {
  explicit Current(const Operation &operation) { current = &operation; }
  ~Current() { current = nullptr; }
};

std::uint64_t extent_bytes(int count, MPI_Datatype datatype) {
  if (count <= 0)
    return 0;
  MPI_Aint lower = 0, extent = 0;
  if (datatype == MPI_DATATYPE_NULL || PMPI_Type_get_extent(datatype, &lower, &extent) != MPI_SUCCESS)
    return 0;
  return static_cast<std::uint64_t>(count) * static_cast<std::uint64_t>(extent);
}

bool is_intercommunicator(MPI_Comm comm) {
  int inter = 0;
  return comm != MPI_COMM_NULL && PMPI_Comm_test_inter(comm, &inter) == MPI_SUCCESS && inter;
}

bool is_root(const Arguments &arguments) {
  int rank = MPI_PROC_NULL;
  PMPI_Comm_rank(arguments.comm, &rank);
  return rank == arguments.root;
}

} // namespace

Buffers true_buffers(const Attribute &attribute) {
  Buffers buffers = buffers_of(attribute.function, attribute.arguments, extent_bytes);
  buffers.in_bytes = attribute.in_bytes;
  if (attribute.function == Function::Bcast)
    (is_root(attribute.arguments) ? buffers.out_bytes : buffers.in_bytes) = 0;
  if (attribute.function == Function::Reduce && !is_root(attribute.arguments))
    buffers.out_bytes = 0;
  return buffers;
}

namespace {

/// A standard-mode send whose data is the host's: it is done as soon as MPI has taken it, and then
/// needs no request slot. Where the Attribute is detached the kernel does not even wait for that.
bool is_buffered(const Attribute &attribute) {
  return attribute.function == Function::Send && attribute.inline_in;
}

Reply make_reply(const Operation &operation, ReplyKind kind) {
  Reply reply{};
  reply.kind = kind;
  reply.error = operation.error;
  reply.source = operation.source;
  reply.tag = operation.tag;
  reply.message_bytes = operation.message_bytes;
  return reply;
}

} // namespace

const Operation *current_operation() { return current; }

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
  Current naming(operation);
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
  Current naming(operation);
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

/// Has the kernel copy (more of) the data it sends.
void Progress::move_in(Operation &operation) {
  Reply reply = make_reply(operation, ReplyKind::copy_in);
  bool last = false;
  if (operation.in.kind == HostData::staged) {
    reply.address = operation.in.address;
    reply.bytes = operation.in.bytes;
    last = true;
  } else {
    if (!get_piece(operation, Phase::copying_in))
      return;
    reply.address = operation.piece;
    reply.offset = operation.moved;
    reply.bytes = std::min(operation.in.bytes - operation.moved, settings().bounce_piece);
    last = operation.moved + reply.bytes == operation.in.bytes;
  }
  if (last && kind_of(operation.attribute.function) == Kind::nonblocking)
    reply.kind = ReplyKind::copy_in_last;
  operation.phase = Phase::copying_in;
  answer(operation, reply);
}

/// Has the kernel copy (more of) the data it has received.
void Progress::move_out(Operation &operation) {
  Reply reply = make_reply(operation, ReplyKind::copy_out);
  if (operation.out.kind == HostData::staged) {
    reply.kind = ReplyKind::copy_out_last;
    reply.address = operation.out.address;
    reply.bytes = operation.received;
  } else {
    if (!get_piece(operation, Phase::copying_out))
      return;
    reply.address = operation.piece;
    reply.offset = operation.moved;
    reply.bytes = std::min(operation.received - operation.moved, settings().bounce_piece);
    std::memcpy(operation.piece, operation.out.address + operation.moved, reply.bytes);
    if (operation.moved + reply.bytes == operation.received)
      reply.kind = ReplyKind::copy_out_last;
  }
  operation.phase = Phase::copying_out;
  answer(operation, reply);
}

/// Tells the kernel that a request's data is there, by an empty part: the next Wait or Test that sees
/// it says `copied` and gets the others. Until then the request holds no bounce memory, nothing more
/// is under way, and the host may take it up instead.
void Progress::offer_parts(Operation &operation) {
  answer(operation, make_reply(operation, ReplyKind::copy_out));
}

/// Bounce memory for the next part; where none is free, the operation queues for it.
bool Progress::get_piece(Operation &operation, Phase next) {
  if (operation.piece == nullptr)
    operation.piece = queue_.bounce().take(settings().bounce_piece);
  if (operation.piece != nullptr)
    return true;
  operation.phase = next;
  wanting_.push_back(&operation);
  return false;
}

bool Progress::serve_wanting() {
  if (wanting_.empty())
    return false;
  Operation &operation = *wanting_.front();
  operation.piece = queue_.bounce().take(settings().bounce_piece);
  if (operation.piece == nullptr)
    return false;
  wanting_.pop_front();
  progressed_ = true;
  operation.phase == Phase::copying_in ? move_in(operation) : move_out(operation);
  return true;
}

/// The kernel has made the copy that it was last asked for.
void Progress::copied(Operation &operation) {
  HostData &data = operation.phase == Phase::copying_in ? operation.in : operation.out;
  std::size_t total =
      operation.phase == Phase::copying_in ? operation.in.bytes : operation.received;
  if (data.kind == HostData::pageable) {
    std::size_t part = std::min(total - operation.moved, settings().bounce_piece);
    if (operation.piece == nullptr) // offer_parts() asked
      part = 0;
    if (operation.phase == Phase::copying_in)
      std::memcpy(data.address + operation.moved, operation.piece, part);
    operation.moved += part;
    if (operation.moved < total)
      return operation.phase == Phase::copying_in ? move_in(operation) : move_out(operation);
    queue_.bounce().give(std::exchange(operation.piece, nullptr));
  }
  operation.moved = 0;
  if (operation.phase == Phase::copying_in)
    return start_mpi(operation);
  free(operation.in);
  free(operation.out);
  end(operation);
}

void Progress::start_mpi(Operation &operation) {
  Current naming(operation);
  Arguments arguments = operation.attribute.arguments;
  arguments.send_buffer = operation.in.address;
  arguments.recv_buffer = operation.out.address;
  // MPI is told where a reduction is in place: all ranks must say the same, host code among them, and
  // Open MPI chooses its algorithm by it.
  if (operation.attribute.arguments.send_buffer == MPI_IN_PLACE && operation.out.bytes != 0) {
    std::memcpy(operation.out.address, operation.in.address, operation.in.bytes);
    arguments.send_buffer = MPI_IN_PLACE;
  }
  arguments.shared_buffer = operation.in.bytes ? operation.in.address : operation.out.address;
  if (operation.attribute.function == Function::Sendrecv) {
    start_sendrecv(operation, arguments);
  } else {
    operation.error =
        start_nonblocking(operation.attribute.function, arguments, operation.requests);
    operation.pending = operation.error == MPI_SUCCESS;
  }
  if (operation.pending == 0 && operation.error != MPI_SUCCESS)
    return fail(operation, operation.error);
  if (is_buffered(operation.attribute) && !operation.attribute.detached)
    detach(operation);
  if (!gpu_aware::takes_own_messages() && operation.in.kind != HostData::direct &&
      operation.in.bytes > inline_bytes)
    queue_.comm_sizes().learn(arguments.comm); // and the next may go without a copy
  operation.phase = Phase::running;
  running_.push_back(&operation);
}

/// MPI has taken a small send, and the kernel goes on. Its next one on this communicator need not wait.
void Progress::detach(Operation &operation) {
  queue_.comm_sizes().learn(operation.attribute.arguments.comm);
  answer(operation, make_reply(operation, ReplyKind::done));
  operation.attribute.detached = true;
  operation.waited = false;
}

/// Both halves at once. Where only the receive could be started it is taken back, and its end
/// awaited: it must not write into memory that is somebody else's by then. MPICH 4.0.2 leaves a wrong
/// status after a nonblocking receive from MPI_PROC_NULL, so such halves are not given to MPI.
void Progress::start_sendrecv(Operation &operation, const Arguments &a) {
  if (a.source != MPI_PROC_NULL)
    operation.error = PMPI_Irecv(a.recv_buffer, a.recv_count, a.recv_datatype, a.source, a.recv_tag,
                                 a.comm, &operation.requests[1]);
  else
    operation.source = MPI_PROC_NULL;
  if (operation.error == MPI_SUCCESS && a.dest != MPI_PROC_NULL)
    operation.error = PMPI_Isend(a.send_buffer, a.send_count, a.send_datatype, a.dest, a.send_tag,
                                 a.comm, &operation.requests[0]);
  if (operation.error != MPI_SUCCESS && operation.requests[1] != MPI_REQUEST_NULL)
    PMPI_Cancel(&operation.requests[1]);
  for (MPI_Request request : operation.requests)
    operation.pending += request != MPI_REQUEST_NULL;
}

/// A kernel waits for, or tests, a request that the host program has made.
void Progress::wait_for_foreign(Operation &operation) {
  if (operation.attribute.in_bytes == unknown_bytes) { // a kernel's, but no longer a request
    Current naming(operation);
    PMPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_REQUEST);
    return fail(operation, MPI_ERR_REQUEST);
  }
  operation.foreign = FromWord<MPI_Request>::get(operation.attribute.in_bytes);
  operation.requests[0] = operation.foreign;
  operation.pending = 1;
  operation.phase = Phase::running;
  running_.push_back(&operation);
}

/// MPI has no nonblocking form of MPI_Probe that ends by itself: it is asked in every pass.
void Progress::start_probe(Operation &operation) {
  operation.pending = 1;
  operation.phase = Phase::running;
  running_.push_back(&operation);
}

bool Progress::look_for_message(Operation &operation) {
  const Arguments &a = operation.attribute.arguments;
  int found = 0;
  MPI_Status status;
  operation.error = PMPI_Iprobe(a.source, a.recv_tag, a.comm, &found, &status);
  if (operation.error == MPI_SUCCESS && found)
    note_message(operation, status);
  if (operation.error != MPI_SUCCESS || found)
    operation.pending = 0;
  return operation.pending == 0 || tells_flag(operation.attribute.function);
}

void Progress::note_message(Operation &operation, const MPI_Status &status) {
  operation.source = status.MPI_SOURCE;
  operation.tag = status.MPI_TAG;
  operation.message_bytes = static_cast<std::size_t>(status_bytes(status));
}

/// A test costs as much as an Attribute: where many operations run, they take turns. Each has tests of its own: of
/// several requests that fail at once PMPI_Testsome calls an error handler for one, which does not learn whose it is.
bool Progress::test_running() {
  constexpr std::size_t tests_a_pass = 32;
  bool moved = false;
  std::size_t tests = std::min(running_.size(), tests_a_pass);
  for (; tests > 0 && !running_.empty(); --tests) {
    if (next_to_test_ >= running_.size())
      next_to_test_ = 0;
    Operation &operation = *running_[next_to_test_];
    if (!test_one(operation)) {
      ++next_to_test_;
      continue;
    }
    running_[next_to_test_] = running_.back();
    running_.pop_back();
    progressed_ |= operation.pending == 0 || !tells_flag(operation.attribute.function);
    finish_mpi(operation);
    moved = true;
  }
  return moved;
}

bool Progress::test_one(Operation &operation) {
  Current naming(operation);
  if (probes(operation.attribute.function))
    return look_for_message(operation);
  for (MPI_Request &request : operation.requests) {
    if (request == MPI_REQUEST_NULL)
      continue;
    int completed = 0;
    MPI_Status status;
    int error = PMPI_Test(&request, &completed, &status);
    if (error != MPI_SUCCESS) {
      operation.error = error;
      completed = 1;
      request = MPI_REQUEST_NULL;
    }
    if (!completed)
      continue;
    --operation.pending;
    bool receives = &request == &operation.requests[1] || operation.foreign != MPI_REQUEST_NULL ||
                    operation.attribute.function == Function::Recv ||
                    operation.attribute.function == Function::Irecv;
    if (receives)
      note_message(operation, status);
  }
  bool asked_once = operation.attribute.function == Function::Test;
  return operation.pending == 0 || asked_once;
}

void Progress::finish_mpi(Operation &operation) {
  if (operation.foreign != MPI_REQUEST_NULL) {
    bool done = operation.pending == 0;
    Reply reply = make_reply(operation, done ? ReplyKind::answer : ReplyKind::accepted);
    reply.bytes = operation.message_bytes;
    end(operation);
    return answer(operation, reply);
  }
  if (probes(operation.attribute.function)) {
    end(operation);
    return answer(operation, make_reply(operation, operation.pending == 0 ? ReplyKind::done
                                                                          : ReplyKind::accepted));
  }
  const Arguments &a = operation.attribute.arguments;
  if (kind_of(operation.attribute.function) == Kind::collective) {
    operation.received = operation.out.bytes;
  } else if (operation.message_bytes != 0) {
    int size = 1;
    PMPI_Type_size(a.recv_datatype, &size);
    operation.received = std::min<std::size_t>(
        operation.message_bytes / size * extent_bytes(1, a.recv_datatype), operation.out.bytes);
  }
  free(operation.in);
  if (operation.error != MPI_SUCCESS || operation.out.kind == HostData::direct)
    operation.received = 0; // nothing is to be copied
  bool nonblocking = kind_of(operation.attribute.function) == Kind::nonblocking;
  if (operation.received == 0 || operation.out.kind == HostData::payload)
    return done(operation, operation.received);
  if (nonblocking && is_handed(operation))
    return complete(operation); // it will be claimed
  if (nonblocking && operation.out.kind == HostData::pageable)
    offer_parts(operation);
  else
    move_out(operation);
  if (nonblocking)
    complete(operation); // a host MPI_Wait may take it up instead
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

HostData Progress::allocate(std::size_t bytes) {
  if (bytes == 0)
    return {};
  if (unsigned char *piece = queue_.staging().take(bytes))
    return {piece, bytes, HostData::staged};
  unsigned char *memory = pageable_.take(bytes);
  if (memory == nullptr)
    fatal("no memory for a message of %zu bytes", bytes);
  return {memory, bytes, HostData::pageable};
}

void Progress::free(HostData &data) {
  if (data.kind == HostData::staged)
    queue_.staging().give(data.address);
  else if (data.kind == HostData::pageable)
    pageable_.give(data.address);
  data = {};
}

} // namespace gmpi
