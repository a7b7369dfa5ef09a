// The progress engine of one device: carries out the calls that its kernels' Attributes ask for, and
// those that the split driver hands over. Only the proxy's thread calls it, but for what says otherwise.
// From Attribute to Reply: progress.cpp; between them, MPI: progress_mpi.cpp; and the messages' memory and
// copies: progress_copies.cpp. What other threads call: progress_host.cpp.
//
// Invariant: it never blocks, in MPI or in CUDA.
#pragma once

#include "../split/slots.hpp"
#include "../transport/pageable_pool.hpp"
#include "operation.hpp"

#include <deque>

namespace gmpi {

/// A finished request's outcome; its data is the claimer's until release().
struct Claim {
  KernelRequest request;
  int error;
  int source, tag;
  std::size_t message_bytes;
  void *to; ///< the receive buffer
  std::size_t received;
  HostData data;
  std::uint32_t turn;
};

class Progress {
public:
  /// Sets up the current device, number `device`.
  explicit Progress(int device);
  ~Progress();

  DeviceQueue &queue() { return queue_; }
  const DeviceQueue &queue() const { return queue_; }

  /// One pass: takes new Attributes, tests what is running. True where anything moved.
  bool work();
  /// Whether anything has moved since the last call but kernels' questions whether something has
  /// come, to which the answer was no.
  bool take_progress();
  /// The last pass has taken all Attributes that there were.
  bool caught_up() const { return caught_up_; }
  /// Nothing is running or awaited.
  bool quiet() const { return running_.empty() && wanting_.empty(); }
  /// Launches whose last thread has left since the last call.
  int take_ended_launches();

  /// The host program's MPI_Test on a kernel's request. Any thread but the proxy's. True when it is
  /// done: data in place, `status` filled (unless MPI_STATUS_IGNORE), the request slot given back.
  /// `waits`: the host program is blocked until then.
  bool test_from_host(KernelRequest request, MPI_Status *status, int &error,
                      bool waits = false);
  /// The same, but for the data: that is the caller's to copy, until it calls release(). Any thread.
  bool claim(KernelRequest request, Claim &claim, bool waits);
  void release(Claim &claim);

  /// The split driver's way to make a call: an Attribute as kernels post it, with a slot from
  /// request_slots on, and its inline data, which must stay until handed_taken() reaches what this returns.
  std::uint64_t hand_over(const Attribute &attribute, const unsigned char *data = nullptr);
  std::uint64_t handed_taken() const { return handed_taken_.load(std::memory_order_acquire); }
  split::Slots &slots() { return slots_; }

  /// For reports.
  const std::deque<Operation> &operations() const { return operations_; }

private:
  bool take_attributes();
  bool take_handed();
  void count_call(const Attribute &attribute);
  static bool is_handed(const Operation &operation) {
    return operation.attribute.slot >= request_slots;
  }
  unsigned char *payload(std::uint32_t slot) const {
    return slot < request_slots ? queue_.payload(slot) : slots_.payload(slot - request_slots);
  }
  bool test_running();
  bool serve_wanting();

  /// `data` may be overwritten once this returns. `attribute`'s arguments: what `read` gives.
  template <class Read>
  void begin(const Attribute &attribute, const unsigned char *data, Read read);
  void begin(const Attribute &attribute, const unsigned char *data);
  Operation &detached_operation();
  void note_wait(Operation &operation, const Attribute &attribute);
  void end(Operation &operation);
  void answer_query(Operation &operation);
  void communicate(Operation &operation, const unsigned char *data);
  void start_mpi(Operation &operation);
  void test_from_now_on(Operation &operation);
  void detach(Operation &operation);
  void start_sendrecv(Operation &operation, const Arguments &arguments);
  void wait_for_foreign(Operation &operation);
  void start_probe(Operation &operation);
  bool test_one(Operation &operation);
  bool look_for_message(Operation &operation);
  static void note_message(Operation &operation, const MPI_Status &status);
  void finish_mpi(Operation &operation);
  void complete(Operation &operation);
  void copied(Operation &operation);
  void move_in(Operation &operation);
  void move_out(Operation &operation);
  void offer_parts(Operation &operation);
  bool get_piece(Operation &operation, Phase next);
  void answer(Operation &operation, const Reply &reply);
  static ReplyKind kind_of_done(const Operation &operation, std::size_t bytes);
  void done(Operation &operation, std::size_t inline_bytes_received = 0);
  void refuse(Operation &operation, int error, const char *why);
  void fail(Operation &operation, int error);
  HostData allocate(std::size_t bytes);
  void free(HostData &data);

  struct Handed {
    Attribute attribute;
    const unsigned char *data;
  };

  DeviceQueue queue_;
  split::Slots slots_;
  std::mutex handed_mutex_;
  std::vector<Handed> handed_, handed_now_;
  std::atomic<std::uint64_t> handed_count_{0}, handed_taken_{0};
  PageablePool pageable_;
  std::deque<Operation> operations_;   ///< by request slot; behind them, the small sends'
  std::vector<Operation *> by_slot_;   ///< for other threads: operations_ grows
  std::vector<Operation *> free_detached_;
  std::vector<Operation *> running_;   ///< MPI's
  std::size_t next_to_test_ = 0;       ///< of them
  std::deque<Operation *> wanting_;    ///< waiting for bounce memory
  int ended_launches_ = 0;
  bool caught_up_ = true;
  bool progressed_ = false; ///< as take_progress() says
};

} // namespace gmpi
