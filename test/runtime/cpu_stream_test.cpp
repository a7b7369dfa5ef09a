// Streams and events of the cpu device.
#include "cpu_run.hpp"

#include <atomic>
#include <thread>

namespace {
struct Stream {
  explicit Stream(unsigned flags = cudaStreamDefault) { cudaStreamCreateWithFlags(&s, flags); }
  ~Stream() { cudaStreamDestroy(s); }
  operator cudaStream_t() const { return s; }
  cudaStream_t s;
};

// A kernel that runs until the host opens the gate.
struct Gate {
  std::atomic<int> open{0}, begun{0};
  void launch(cudaStream_t stream) {
    ::launch({1, 2, 0, stream}, [this] {
      begun = 1;
      while (!open)
        gmpi::cpu::yield();
    });
  }
  void wait_for_begin() const {
    while (!begun)
      std::this_thread::yield();
  }
};
} // namespace

TEST(CpuStream, launches_are_asynchronous) {
  Gate gate;
  gate.launch(nullptr);
  EXPECT_EQ(cudaStreamQuery(nullptr), cudaErrorNotReady);
  EXPECT_EQ(cudaGetLastError(), cudaErrorNotReady);
  gate.open = 1;
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(cudaStreamQuery(nullptr), cudaSuccess);
}

TEST(CpuStream, one_stream_keeps_its_order) {
  Stream stream;
  Values<int> v(3);
  int host[3] = {};
  cudaMemsetAsync(v.data, 0, 12, stream);
  for (int i = 0; i < 10; ++i)
    launch({4, 8, 0, stream}, [v = v.data] { atomicAdd(v, 1); });
  cudaMemcpyAsync(v.data + 1, v.data, 4, cudaMemcpyDeviceToDevice, stream);
  launch({1, 1, 0, stream}, [v = v.data] { v[2] = v[1] * 2; });
  cudaMemcpyAsync(host, v.data, 12, cudaMemcpyDeviceToHost, stream);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(host[0], 320);
  EXPECT_EQ(host[1], 320);
  EXPECT_EQ(host[2], 640);
}

TEST(CpuStream, kernels_of_two_streams_wait_for_each_other) {
  Stream a(cudaStreamNonBlocking), b(cudaStreamNonBlocking);
  Values<int> v(2);
  launch({1, 32, 0, a}, [v = v.data] {
    if (threadIdx.x == 0)
      atomicExch(&v[0], 1);
    while (atomicAdd(&v[1], 0) == 0) {
    }
  });
  launch({1, 32, 0, b}, [v = v.data] {
    while (atomicAdd(&v[0], 0) == 0)
      __nanosleep(100);
    if (threadIdx.x == 0)
      atomicExch(&v[1], 1);
  });
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
}

TEST(CpuStream, the_legacy_stream_synchronises_with_blocking_streams) {
  Stream blocking, other(cudaStreamNonBlocking);
  std::atomic<int> step{0};
  Gate gate;
  gate.launch(blocking);
  launch({1, 1}, [&] { step = 1; });                          // legacy: after the gate
  launch({1, 1, 0, blocking}, [&] { step = step * 10 + 2; }); // after the legacy one
  std::atomic<int> free{0};
  launch({1, 1, 0, other}, [&] { free = 1; });
  EXPECT_EQ(cudaStreamSynchronize(other), cudaSuccess);
  EXPECT_EQ(free, 1);
  EXPECT_EQ(step, 0);
  gate.open = 1;
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(step, 12);
}

TEST(CpuStream, copies_on_another_stream_go_on_while_a_kernel_waits) {
  Stream stream(cudaStreamNonBlocking);
  Gate gate;
  gate.launch(nullptr);
  {
    int *device, host = 5, back = 0;
    cudaMalloc(&device, 4);
    EXPECT_EQ(cudaMemcpyAsync(device, &host, 4, cudaMemcpyHostToDevice, stream), cudaSuccess);
    host = 6; // staged already
    EXPECT_EQ(cudaMemcpyAsync(&back, device, 4, cudaMemcpyDeviceToHost, stream), cudaSuccess);
    EXPECT_EQ(back, 5); // into pageable memory: done
    gate.open = 1;
    cudaFree(device);
  }
}

TEST(CpuStream, events_order_streams) {
  Stream a(cudaStreamNonBlocking), b(cudaStreamNonBlocking);
  cudaEvent_t event, begin;
  cudaEventCreate(&begin);
  cudaEventCreate(&event);
  EXPECT_EQ(cudaEventQuery(event), cudaSuccess); // never recorded
  std::atomic<int> seen{0};
  Gate gate;
  EXPECT_EQ(cudaEventRecord(begin, a), cudaSuccess);
  gate.launch(a);
  EXPECT_EQ(cudaEventRecord(event, a), cudaSuccess);
  EXPECT_EQ(cudaStreamWaitEvent(b, event), cudaSuccess);
  launch({1, 1, 0, b}, [&] { seen = gate.open.load(); });
  EXPECT_EQ(cudaEventQuery(event), cudaErrorNotReady);
  float ms = -1;
  EXPECT_EQ(cudaEventElapsedTime(&ms, begin, event), cudaErrorNotReady);
  gate.wait_for_begin();
  gate.open = 1;
  EXPECT_EQ(cudaEventSynchronize(event), cudaSuccess);
  EXPECT_EQ(cudaEventElapsedTime(&ms, begin, event), cudaSuccess);
  EXPECT_GE(ms, 0);
  EXPECT_EQ(cudaStreamSynchronize(b), cudaSuccess);
  EXPECT_EQ(seen, 1);
  cudaEventDestroy(event);
  cudaEventDestroy(begin);
  cudaGetLastError();
}

TEST(CpuStream, host_functions_run_in_order_and_may_not_call_cuda) {
  struct Data {
    int value = 0;
    cudaError_t error = cudaSuccess;
  } data;
  Stream stream;
  launch({1, 1, 0, stream}, [&] { data.value = 3; });
  cudaLaunchHostFunc(
      stream,
      [](void *p) {
        auto *d = static_cast<Data *>(p);
        d->value *= 2;
        d->error = cudaDeviceSynchronize();
      },
      &data);
  launch({1, 1, 0, stream}, [&] { data.value += 1; });
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(data.value, 7);
  EXPECT_EQ(data.error, cudaErrorNotPermitted);
}

TEST(CpuStream, a_destroyed_stream_finishes_its_work) {
  Gate gate;
  std::atomic<int> done{0};
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  gate.launch(stream);
  launch({1, 1, 0, stream}, [&] { done = 1; });
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
  EXPECT_EQ(cudaStreamQuery(stream), cudaErrorInvalidResourceHandle);
  gate.open = 1;
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(done, 1);
  cudaGetLastError();
}

TEST(CpuStream, many_threads_and_streams_at_once) {
  Values<int> count(1);
  std::vector<std::thread> hosts;
  for (int h = 0; h < 4; ++h)
    hosts.emplace_back([&] {
      Stream own(cudaStreamNonBlocking);
      for (int i = 0; i < 50; ++i) {
        launch({3, 32, 0, own}, [c = count.data] {
          __syncthreads();
          atomicAdd(c, 1);
        });
        launch({1, 1, 0, cudaStreamPerThread}, [c = count.data] { atomicAdd(c, 1); });
        if (i % 10 == 0)
          cudaStreamSynchronize(own);
      }
      cudaStreamSynchronize(own);
      cudaStreamSynchronize(cudaStreamPerThread);
    });
  for (std::thread &host : hosts)
    host.join();
  EXPECT_EQ(count[0], 4 * 50 * 97);
}

/// Seconds of this process's processors in 300 ms, while the kernel waits for the gate.
static double processor_seconds() {
  timespec before, after;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
  return static_cast<double>(after.tv_sec - before.tv_sec) +
         1e-9 * static_cast<double>(after.tv_nsec - before.tv_nsec);
}

TEST(CpuStream, a_spinning_kernel_leaves_the_core_to_others) {
  Gate gate;
  gate.launch(nullptr);
  gate.wait_for_begin();
  const double used = processor_seconds();
  gate.open = 1;
  cudaDeviceSynchronize();
  EXPECT_LT(used, 0.15);
}

/// Lanes that tell each other what they have seen get no further by that.
TEST(CpuStream, a_spinning_warp_leaves_the_core_to_others) {
  Values<int> open(1), begun(1);
  launch({1, 64}, [open = open.data, begun = begun.data] {
    volatile int *const word = open;
    const bool leads = threadIdx.x % 32 == 0;
    if (leads)
      atomicAdd(begun, 1);
    while (!__any_sync(0xffffffffu, leads && *word != 0)) {
      const unsigned ballot = __ballot_sync(0xffffffffu, leads);
      if (__shfl_sync(0xffffffffu, ballot, 3) != 1)
        __trap();
      if (leads)
        __nanosleep(100);
    }
  });
  while (__atomic_load_n(begun.data, __ATOMIC_RELAXED) != 2)
    std::this_thread::yield();
  const double used = processor_seconds();
  open[0] = 1;
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_LT(used, 0.15);
}
