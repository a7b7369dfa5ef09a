// A stream that waits, until a thread lets it go on.
#include "busy_device.hpp"

#include "../split/stream_order.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace gmpi::gpu_aware {

namespace {

class WaitingStream final : public Occupation {
public:
  ~WaitingStream() override {
    {
      std::lock_guard lock(mutex_);
      ends_ = true;
    }
    changed_.notify_all();
    if (timer_.joinable())
      timer_.join();
    cudaStreamSynchronize(nullptr);
  }

  bool begin(double seconds) {
    if (!split::StreamGate::available() || gate_.close(nullptr) != cudaSuccess)
      return false;
    timer_ = std::thread([this, seconds] {
      std::unique_lock lock(mutex_);
      over_ = !changed_.wait_for(lock, std::chrono::duration<double>(seconds),
                                 [this] { return ends_; });
      gate_.open();
    });
    return true;
  }

  bool lasts() const override { return !over_; }

private:
  split::StreamGate gate_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ends_ = false;
  std::atomic<bool> over_{false};
  std::thread timer_;
};

} // namespace

std::unique_ptr<Occupation> occupy_device(Busy how, double seconds) {
  if (how == Busy::kernel)
    return launch_busy_kernel(seconds);
  auto stream = std::make_unique<WaitingStream>();
  if (!stream->begin(seconds))
    return nullptr;
  return stream;
}

} // namespace gmpi::gpu_aware
