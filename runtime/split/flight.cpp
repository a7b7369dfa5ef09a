// A launch's way from segment to segment.
#include "flight.hpp"

#include "../launch/device_launch.hpp"
#include "../proxy/host_wait.hpp"
#include "../proxy/report.hpp"

#include <utility>

namespace gmpi::split {

namespace {

template <class T> T *allocate_mapped(std::size_t bytes) {
  void *memory = nullptr;
  if (cudaHostAlloc(&memory, bytes, cudaHostAllocMapped | cudaHostAllocPortable) != cudaSuccess)
    fatal("cannot allocate page-locked memory for a split kernel");
  return static_cast<T *>(memory);
}

/// Asks without leaving an error behind for the thread's next cudaGetLastError.
bool has_happened(cudaEvent_t event) {
  cudaError_t before = cudaPeekAtLastError();
  bool ready = cudaEventQuery(event) != cudaErrorNotReady;
  if (before == cudaSuccess && !ready)
    cudaGetLastError();
  return ready;
}

} // namespace

Flight::Flight(Progress &progress, SegmentStreams &streams, int device, std::uint32_t slot)
    : progress_(progress), streams_(streams), device_(device), slot_(slot),
      request_(allocate_mapped<Request>(2 * sizeof(Request))), single_(request_ + 1),
      outgoing_(allocate_mapped<unsigned char>(inline_bytes)),
      incoming_(allocate_mapped<unsigned char>(inline_bytes)) {
  void *memory = nullptr;
  check(cudaMalloc(&memory, inline_bytes + sizeof(*arrivals_)),
        "cannot allocate device memory for a split kernel");
  arrived_ = static_cast<unsigned char *>(memory);
  arrivals_ = reinterpret_cast<std::uint32_t *>(arrived_ + inline_bytes);
  check(cudaEventCreateWithFlags(&came_here_, cudaEventDisableTiming), "cannot create an event");
}

Flight::~Flight() {
  cudaEventDestroy(came_here_);
  cudaFree(arrived_);
  for (void *memory : {static_cast<void *>(request_), static_cast<void *>(outgoing_),
                       static_cast<void *>(incoming_)})
    cudaFreeHost(memory);
}

void Flight::check(cudaError_t error, const char *what) {
  if (error != cudaSuccess)
    fatal("%s: %s", what, cudaGetErrorString(error));
}

void Flight::prepare(const launch::KernelEntry &kernel, const launch::Configuration &configuration,
                     void **arguments, FramePool::Frame frame, const FrameLayout &layout,
                     FlightUse before) {
  kernel_ = &kernel;
  configuration_ = configuration;
  attributes_.clear();
  for (unsigned i = 0; i < configuration.attribute_count; ++i)
    if (configuration.attributes[i].id == cudaLaunchAttributeClusterDimension)
      attributes_.push_back(configuration.attributes[i]); // the others are of the kernel as a whole
  configuration_.attributes = attributes_.data();
  configuration_.attribute_count = static_cast<unsigned>(attributes_.size());
  arguments_ = kernel.copy_arguments(arguments);
  frame_ = std::move(frame);
  frame_bytes_ = layout.end;
  before_ = before;
  unsigned char *base = frame_.get();
  segment_.uniform = base + layout.uniform[0];
  segment_.next_uniform = base + layout.uniform[1];
  segment_.threads = base + layout.threads;
  segment_.blocks = base + layout.blocks;
  segment_.dynamic = base + layout.dynamic;
  bool exits = kernel.split.sizes.exits;
  segment_.elected = exits ? reinterpret_cast<std::uint32_t *>(base + layout.elected) : nullptr;
  segment_.at = exits ? reinterpret_cast<std::uint32_t *>(base + layout.at) : nullptr;
  segment_.thread_slots = layout.thread_slots;
  segment_.request = request_;
  segment_.outgoing = outgoing_;
  segment_.arrivals = arrivals_;
  segment_.single = single_;
  segment_.only = all_threads;
  segment_.singles = 0;
  segment_.number = 0;
  segment_.result = CallResult{};
  segment_.data = nullptr;
  segment_.data_bytes = 0;
  request_->number = single_->number = 0;
  request_->gathered = single_->gathered = false;
  started_ = false;
  counts_ = launch::Counts{};
  counts_.launches = 1;
  std::uint32_t index = 0;
  DeviceQueue::LaunchRecord record{&kernel, Clock::now(), configuration.stream};
  record.split = true;
  progress_.queue().begin_launch(record, index);
  segment_.launch = index;
}

cudaError_t Flight::enqueue(bool with_gate) {
  cudaError_t error = cudaEventRecord(came_here_, configuration_.stream);
  gated_ = with_gate;
  if (error == cudaSuccess && with_gate)
    error = gate_.close(configuration_.stream);
  return error;
}

/// The stream's turn comes within microseconds where it has nothing else to do.
cudaError_t Flight::start_at_once() {
  constexpr int attempts = 8;
  for (int i = 0; i < attempts; ++i)
    if (stream_came_here())
      return launch_segment(0);
  return cudaSuccess;
}

void Flight::cancel() {
  if (gated_)
    gate_.open();
  progress_.queue().end_launch(segment_.launch);
  retire();
}

void Flight::retire() {
  if (stream_ != nullptr)
    streams_.give(std::exchange(stream_, nullptr));
  frame_.reset();
  arguments_ = {};
  task_ = {};
  generation_.fetch_add(1, std::memory_order_release);
}

void Flight::begin() {
  task_ = fly();
  waiter_.start(task_.handle());
}

bool Flight::stream_came_here() {
  if (before_.in_flight())
    return false;
  return has_happened(came_here_);
}

cudaError_t Flight::launch_segment(std::uint32_t point) {
  // Where threads return early: no suspension has been seen by any thread yet.
  if (stream_ == nullptr && (stream_ = streams_.take()) == nullptr)
    return cudaErrorMemoryAllocation;
  if (!started_)
    began_ = Clock::now();
  if (!counts_arrivals_) {
    if (cudaError_t error = cudaMemsetAsync(arrivals_, 0, sizeof(*arrivals_), stream_);
        error != cudaSuccess)
      return error;
    counts_arrivals_ = true;
  }
  if (!started_ && segment_.elected != nullptr)
    if (cudaError_t error = cudaMemsetAsync(
            segment_.elected, 0,
            static_cast<std::size_t>(frame_.get() + frame_bytes_ -
                                     reinterpret_cast<unsigned char *>(segment_.elected)),
            stream_);
        error != cudaSuccess)
      return error;
  cudaError_t error = launch::launch_segment_on_device(*kernel_, configuration_, point, segment_,
                                                       arguments_, stream_);
  started_ |= error == cudaSuccess;
  mark_.set(stream_);
  ++counts_.segments;
  since_ = Clock::now();
  return error;
}

void Flight::launch_next(std::uint32_t point) {
  if (point >= kernel_->split.segments.size())
    fatal("kernel %s suspended at resume point %u, which it does not have", kernel_->info.name,
          point);
  if (segment_.data != nullptr)
    copy(arrived_, incoming_, segment_.data_bytes);
  if (cudaError_t error = launch_segment(point); error != cudaSuccess)
    fatal("cannot launch a segment of kernel %s: %s", kernel_->info.name,
          cudaGetErrorString(error));
}

/// The whole grid has come to a suspension.
void Flight::advance() {
  segment_.number = request_->number;
  auto *saved = segment_.next_uniform;
  segment_.next_uniform = const_cast<unsigned char *>(segment_.uniform);
  segment_.uniform = saved;
  segment_.only = all_threads;
}

/// What the copies before it have used is free.
void Flight::segment_has_ended() {
  for (Claim &claim : claims_)
    progress_.release(claim);
  claims_.clear();
  counts_.in_segments += Clock::now() - since_;
  since_ = Clock::now();
}

/// Makes the call that was announced, and launches what comes behind it.
Task Flight::serve(const Request &request) {
  asked_ = &request;
  segment_.data = nullptr;
  segment_.data_bytes = 0;
  segment_.result = CallResult{};
  if (request.calls) {
    ++counts_.calls;
    co_await call();
  }
  counts_.in_mpi += Clock::now() - since_;
  request_->gathered = false; // kernels whose threads suspend alone gather nothing
  launch_next(request.point);
}

Task Flight::fly() {
  if (!started_) {
    co_await until([this] { return stream_came_here(); });
    if (cudaError_t error = launch_segment(0); error != cudaSuccess)
      fatal("cannot launch kernel %s: %s", kernel_->info.name, cudaGetErrorString(error));
  }
  for (;;) {
    co_await until([this] { return mark_.is_passed(); });
    segment_has_ended();
    if (mark_.error() != cudaSuccess)
      break;
    if (single_->number == segment_.singles + 1) { // the others wait, where they have not ended
      segment_.singles = single_->number;
      segment_.only = single_->thread;
      counts_.saved_bytes += 2 * std::uint64_t(kernel_->split.sizes.thread);
      co_await serve(*single_);
    } else if (request_->number == segment_.number + 1) {
      advance();
      counts_.saved_bytes += 2 * frame_bytes_;
      co_await serve(*request_);
    } else {
      break;
    }
  }
  counts_.total = Clock::now() - began_;
  Attribute leave{};
  leave.function = Function::leave;
  leave.launch = segment_.launch;
  progress_.hand_over(leave);
  if (gated_)
    gate_.open();
}

} // namespace gmpi::split
