#include "stream.hpp"

#include "block_scheduler.hpp"

#include <algorithm>
#include <thread>

namespace gmpi::cpu {
namespace {
thread_local bool this_is_host_function = false;
}

void TaskThread::add(std::function<void()> task) {
  std::lock_guard lock(mutex_);
  tasks_.push_back(std::move(task));
  if (!begun_)
    std::thread([this] { work(); }).detach();
  begun_ = true;
  changed_.notify_one();
}

void TaskThread::work() {
  for (;;) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !tasks_.empty(); });
    std::function<void()> task = std::move(tasks_.front());
    tasks_.pop_front();
    lock.unlock();
    task();
  }
}

// Never destroyed: operations may be running when the process ends.
Streams &Streams::get() {
  static Streams *streams = new Streams;
  return *streams;
}

Streams::Streams() { streams_.emplace_back(legacy_); }

bool Streams::in_host_function() { return this_is_host_function; }

cudaStream_t Streams::create(bool blocking, int priority) {
  std::lock_guard lock(mutex_);
  streams_.push_back(std::make_unique<CUstream_st>());
  streams_.back()->blocking = blocking;
  streams_.back()->priority = priority;
  return streams_.back().get();
}

cudaStream_t Streams::resolve(cudaStream_t handle) {
  if (handle == nullptr || handle == cudaStreamLegacy)
    return legacy_;
  if (handle == cudaStreamPerThread) {
    static thread_local cudaStream_t own = create(true, 0);
    return own;
  }
  std::lock_guard lock(mutex_);
  for (const auto &stream : streams_)
    if (stream.get() == handle && !stream->destroyed)
      return handle;
  return nullptr;
}

void Streams::destroy(cudaStream_t stream) {
  std::lock_guard lock(mutex_);
  stream->destroyed = true;
  sweep();
}

void Streams::sweep() {
  streams_.erase(
      std::remove_if(streams_.begin(), streams_.end(),
                     [](const auto &stream) { return stream->destroyed && stream->queue.empty(); }),
      streams_.end());
}

unsigned long long Streams::enqueue(cudaStream_t stream, Operation operation) {
  std::lock_guard lock(mutex_);
  operation.order = ++orders_;
  stream->queue.push_back(std::move(operation));
  const unsigned long long order = orders_;
  pump();
  return order;
}

void Streams::record(cudaEvent_t event, cudaStream_t stream) {
  auto recording = std::make_shared<Recording>();
  {
    std::lock_guard lock(mutex_);
    event->latest = recording;
  }
  Operation operation;
  operation.record = std::move(recording);
  enqueue(stream, std::move(operation));
}

void Streams::wait_event(cudaStream_t stream, cudaEvent_t event) {
  if (std::shared_ptr<Recording> recording = latest(event))
    wait(stream, std::move(recording));
}

void Streams::wait(cudaStream_t stream, std::shared_ptr<Recording> recording) {
  Operation operation;
  operation.wait = std::move(recording);
  enqueue(stream, std::move(operation));
}

void Streams::set(Recording &recording) {
  std::lock_guard lock(mutex_);
  recording.done = true;
  pump();
}

// Starts whatever may start now. Operations that are done at once may let others start, so this
// goes on until nothing changes.
void Streams::pump() {
  bool finished_any = false;
  for (bool changed = true; changed;) {
    changed = false;
    for (const auto &stream : streams_) {
      while (!stream->queue.empty() && !stream->queue.front().started &&
             may_start(*stream, stream->queue.front()) && start(*stream, stream->queue.front())) {
        stream->queue.pop_front();
        changed = finished_any = true;
      }
    }
  }
  if (finished_any) {
    sweep();
    changed_.notify_all();
  }
}

bool Streams::may_start(const CUstream_st &stream, const Operation &operation) const {
  const auto nothing_older = [&](const CUstream_st &other) {
    return other.queue.empty() || other.queue.front().order > operation.order;
  };
  if (&stream != legacy_)
    return !stream.blocking || nothing_older(*legacy_);
  return std::all_of(streams_.begin(), streams_.end(), [&](const auto &other) {
    return !other->blocking || other.get() == legacy_ || nothing_older(*other);
  });
}

// True where the operation is done at once. The others call finish from their own thread.
bool Streams::start(CUstream_st &stream, Operation &operation) {
  if (operation.record) {
    operation.record->time = std::chrono::steady_clock::now();
    operation.record->done = true;
    return true;
  }
  if (operation.wait)
    return operation.wait->done;
  operation.started = true;
  if (operation.kernel) {
    operation.kernel->done = [this, &stream] { finish(stream); };
    BlockScheduler::get().submit(std::move(operation.kernel));
    return false;
  }
  TaskThread &thread = operation.host_function ? host_functions_ : copies_;
  thread.add(
      [this, &stream, task = std::move(operation.task), host_function = operation.host_function] {
        this_is_host_function = host_function;
        task();
        this_is_host_function = false;
        finish(stream);
      });
  return false;
}

void Streams::finish(CUstream_st &stream) {
  std::lock_guard lock(mutex_);
  stream.queue.pop_front();
  pump();
  sweep();
  changed_.notify_all();
}

bool Streams::idle(cudaStream_t stream) {
  std::lock_guard lock(mutex_);
  return stream->queue.empty();
}

void Streams::synchronize(cudaStream_t stream) {
  std::unique_lock lock(mutex_);
  const unsigned long long last = orders_;
  changed_.wait(lock, [&] { return stream->queue.empty() || stream->queue.front().order > last; });
}

void Streams::synchronize(cudaStream_t stream, unsigned long long order) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return stream->queue.empty() || stream->queue.front().order > order; });
}

void Streams::synchronize_all() {
  std::unique_lock lock(mutex_);
  const unsigned long long last = orders_;
  changed_.wait(lock, [&] {
    return std::all_of(streams_.begin(), streams_.end(), [&](const auto &stream) {
      return stream->queue.empty() || stream->queue.front().order > last;
    });
  });
}

std::shared_ptr<Recording> Streams::latest(cudaEvent_t event) {
  std::lock_guard lock(mutex_);
  return event->latest;
}

bool Streams::done(const Recording &recording) {
  std::lock_guard lock(mutex_);
  return recording.done;
}

void Streams::synchronize(const Recording &recording) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return recording.done; });
}

} // namespace gmpi::cpu
