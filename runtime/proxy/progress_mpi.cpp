// The progress engine's calls of MPI: what it starts for operations, and their tests until it is done.
#include "progress.hpp"

#include "../transport/gpu_aware.hpp"
#include "errors.hpp"
#include "start.hpp"
#include "true_buffers.hpp"

#include <algorithm>
#include <cstring>

namespace gmpi {

void Progress::start_mpi(Operation &operation) {
  MpiCallsFor naming(operation);
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
  test_from_now_on(operation);
}

/// Until it is over.
void Progress::test_from_now_on(Operation &operation) {
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
    MpiCallsFor naming(operation);
    PMPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_REQUEST);
    return fail(operation, MPI_ERR_REQUEST);
  }
  operation.foreign = FromWord<MPI_Request>::get(operation.attribute.in_bytes);
  operation.requests[0] = operation.foreign;
  operation.pending = 1;
  test_from_now_on(operation);
}

/// MPI has no nonblocking form of MPI_Probe that ends by itself: it is asked in every pass.
void Progress::start_probe(Operation &operation) {
  operation.pending = 1;
  test_from_now_on(operation);
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
  MpiCallsFor naming(operation);
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

} // namespace gmpi
