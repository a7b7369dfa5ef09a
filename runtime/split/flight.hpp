// One launch of a split kernel, from its first segment to its last: what its driver does for it,
// written as coroutines (task.hpp). Where CUDA, MPI or the proxy have to be waited for, the driver
// goes on with other launches.
//
// Invariant: while a segment runs, nothing of the Flight but `number_` and the copies of data that
// run before it in its stream is in use; so each call finds its Request, `outgoing` and the slot's
// payload free.
#pragma once

#include "../launch/statistics.hpp"
#include "../mpi/buffers.hpp"
#include "../proxy/progress.hpp"
#include "frame_pool.hpp"
#include "segment_streams.hpp"
#include "stream_order.hpp"
#include "task.hpp"

namespace gmpi::split {

class Flight;

/// One of the launches that a flight serves, one after the other.
struct FlightUse {
  const Flight *flight = nullptr;
  std::uint64_t generation = 0; ///< read under the driver's lock, while the launch is in flight

  /// Whether that launch is not over yet.
  bool in_flight() const;
};

class Flight {
public:
  /// On the current device. `slot`: of the driver's, for blocking calls.
  Flight(Progress &progress, SegmentStreams &streams, int device, std::uint32_t slot);
  ~Flight();
  Flight(const Flight &) = delete;

  // The launching thread calls these, in this order.

  /// Everything but the launch itself. `before`: a flight of the same stream that may not be over
  /// yet.
  void prepare(const launch::KernelEntry &kernel, const launch::Configuration &configuration,
               void **arguments, FramePool::Frame frame, const FrameLayout &layout,
               FlightUse before);
  /// Notes where in the user's stream the kernel stands. False: CUDA has refused it.
  cudaError_t enqueue(bool with_gate);
  /// Launches the first segment if the stream has come that far.
  cudaError_t start_at_once();
  /// It was not launched after all.
  void cancel();

  // The driver.

  void begin();
  /// True where anything moved.
  bool work() { return waiter_.try_resume(); }
  bool over() const { return task_.done(); }
  /// Back to the pool.
  void retire();

  int device() const { return device_; }
  cudaStream_t user_stream() const { return configuration_.stream; }
  std::uint32_t launch_index() const { return segment_.launch; }
  const launch::KernelEntry &kernel() const { return *kernel_; }
  const FramePool::Frame &frame() const { return frame_; }
  std::uint64_t frame_bytes() const { return frame_bytes_; }
  const launch::Counts &counts() const { return counts_; }
  // The Driver's.
  std::uint32_t behind = 0; ///< how much streams were given that comes after it
  bool joins_legacy_stream =
      true; ///< the user's stream and the legacy default one wait for each other
  /// Grows when a launch is over: tells one launch from the next.
  std::uint64_t generation() const { return generation_.load(std::memory_order_acquire); }

private:
  template <class Condition> auto until(Condition condition) {
    return Waiter::Until<Condition>(waiter_, std::move(condition));
  }

  Task fly();
  Task serve(const Request &request);
  Task call();
  Task communicate();
  Task gather(const Buffers &buffers);
  Task take_slot(Attribute &attribute);
  Task follow(Attribute &attribute, const Buffers &buffers);
  Task serve_copy(const Attribute &attribute, const Buffers &buffers, const Reply &reply);
  Task copies_done();
  Task complete_requests();
  Task complete(MPI_Request request, bool wait, CallResult &result);
  Task complete_foreign(std::uint64_t request, bool wait, CallResult &result);

  bool stream_came_here();
  cudaError_t launch_segment(std::uint32_t point);
  void launch_next(std::uint32_t point);
  void advance();
  void segment_has_ended();
  void check(cudaError_t error, const char *what);

  Attribute make_attribute(Function function) const;
  void hand_over(const Attribute &attribute, const unsigned char *data);
  bool replied();
  void copy(void *to, const void *from, std::size_t bytes);
  void receive(const Buffers &buffers, std::size_t offset, const unsigned char *from,
               std::size_t bytes);
  void deliver_own(const void *from, std::size_t offset, std::size_t bytes);
  void write_results();
  bool own(Own what) const { return asked_->own & what; }
  void refuse_large(std::uint64_t bytes) const;

  Progress &progress_;
  SegmentStreams &streams_;
  const int device_;
  const std::uint32_t slot_;
  Request *request_ = nullptr;
  Request *single_ = nullptr;
  unsigned char *outgoing_ = nullptr; ///< data to send, on its way to the proxy
  unsigned char *incoming_ = nullptr; ///< received data for each thread's own memory,
  unsigned char *arrived_ = nullptr;  ///< and in device memory, where it is not small
  std::uint32_t *arrivals_ = nullptr; ///< behind it; 0 since the first launch
  bool counts_arrivals_ = false;
  cudaStream_t stream_ = nullptr; ///< from the first segment to the launch's end
  cudaEvent_t came_here_ = nullptr;
  StreamMark mark_; ///< behind the segment, or a copy, that is awaited
  StreamGate gate_;
  bool gated_ = false;

  const launch::KernelEntry *kernel_ = nullptr;
  launch::Configuration configuration_;
  std::vector<cudaLaunchAttribute> attributes_;
  launch::CopiedArguments arguments_;
  FramePool::Frame frame_;
  std::uint64_t frame_bytes_ = 0;
  Segment segment_{};
  FlightUse before_;
  std::atomic<std::uint64_t> generation_{0};
  bool started_ = false;

  // The call under way.
  const Request *asked_ = nullptr;
  std::uint64_t handed_ = 0; ///< the last hand-over's number
  std::uint32_t turn_ = 0;
  Reply reply_{};
  std::vector<MPI_Request> requests_;
  std::vector<MPI_Status> statuses_;
  std::vector<Claim> claims_; ///< data that the segment's stream is copying

  Waiter waiter_;
  Task task_;
  launch::Counts counts_;
  Clock::time_point began_, since_;
};

inline bool FlightUse::in_flight() const {
  return flight != nullptr && flight->generation() == generation;
}

} // namespace gmpi::split
