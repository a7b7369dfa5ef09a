// The progress engine's memory for messages, and the copies between that and the GPU's, which it has the
// kernels' threads make.
#include "progress.hpp"

#include "report.hpp"
#include "settings.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace gmpi {

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
