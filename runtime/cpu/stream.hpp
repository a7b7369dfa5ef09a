// Streams, events and the order between them. Every operation has a number in the order in which
// host threads enqueued it; an operation starts when it is the first of its stream and, for the
// legacy default stream and the streams that synchronise with it, when the other side has nothing
// older.
#pragma once

#include "kernel.hpp"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace gmpi::cpu {

// One recording of an event. Guarded by the streams' mutex.
struct Recording {
  bool done = false;
  std::chrono::steady_clock::time_point time;
};

// Runs tasks one after another on an OS thread of its own, begun with the first task.
class TaskThread {
public:
  void add(std::function<void()> task);

private:
  void work();
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> tasks_;
  bool begun_ = false;
};

struct Operation {
  unsigned long long order = 0;
  bool started = false;
  // Exactly one of these is set.
  std::unique_ptr<Kernel> kernel;
  std::function<void()> task;
  std::shared_ptr<Recording> record, wait;
  bool host_function = false; // the task is the user's, not a copy
};

} // namespace gmpi::cpu

struct CUstream_st {
  bool blocking = true; // synchronises with the legacy default stream
  bool destroyed = false;
  int priority = 0;
  std::deque<gmpi::cpu::Operation> queue; // front: the one that runs or is next
};

struct CUevent_st {
  unsigned flags = 0;
  std::shared_ptr<gmpi::cpu::Recording> latest;
};

namespace gmpi::cpu {

class Streams {
public:
  static Streams &get();

  cudaStream_t create(bool blocking, int priority);
  // Null where the handle is none; the default streams' handles are resolved.
  cudaStream_t resolve(cudaStream_t handle);
  void destroy(cudaStream_t stream); // once its work is done

  unsigned long long enqueue(cudaStream_t stream, Operation operation);
  void record(cudaEvent_t event, cudaStream_t stream);
  void wait_event(cudaStream_t stream, cudaEvent_t event);
  // Holds the stream up until `recording` is set.
  void wait(cudaStream_t stream, std::shared_ptr<Recording> recording);
  void set(Recording &recording);

  bool idle(cudaStream_t stream);
  void synchronize(cudaStream_t stream);
  void synchronize_all();
  void synchronize(cudaStream_t stream, unsigned long long order);
  std::shared_ptr<Recording> latest(cudaEvent_t event);
  bool done(const Recording &recording);
  void synchronize(const Recording &recording);

  // This OS thread runs a host function: CUDA calls are not permitted on it.
  static bool in_host_function();

private:
  Streams();
  void pump();
  bool may_start(const CUstream_st &stream, const Operation &operation) const;
  bool start(CUstream_st &stream, Operation &operation);
  void finish(CUstream_st &stream);
  void sweep();

  std::mutex mutex_;
  std::condition_variable changed_;
  CUstream_st *const legacy_ = new CUstream_st; // the legacy default stream, also in streams_
  std::vector<std::unique_ptr<CUstream_st>> streams_;
  unsigned long long orders_ = 0;
  TaskThread copies_, host_functions_;
};

} // namespace gmpi::cpu
