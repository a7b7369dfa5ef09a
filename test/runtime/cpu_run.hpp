// Short ways to run a lambda as a kernel on the cpu device.
#pragma once

#include <cuda_runtime.h>

#include <gtest/gtest.h>

#include <memory>
#include <vector>

struct Shape {
  dim3 grid, block;
  std::size_t shared_bytes = 0;
  cudaStream_t stream = nullptr;
  bool cooperative = false;
  const char *name = "tested";
};

template <class F> cudaError_t launch(Shape shape, F thread) {
  gmpi::cpu::KernelLaunch launch;
  launch.grid = shape.grid, launch.block = shape.block;
  launch.shared_bytes = shape.shared_bytes, launch.stream = shape.stream;
  launch.cooperative = shape.cooperative, launch.name = shape.name;
  launch.thread = thread;
  return gmpi::cpu::launch(std::move(launch));
}

// Launches, and waits for everything.
template <class F> void run(Shape shape, F thread) {
  ASSERT_EQ(launch(shape, thread), cudaSuccess);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
}

// Managed memory for n values, all 0.
template <class T> struct Values {
  explicit Values(std::size_t n) : n(n) {
    cudaMallocManaged(&data, n * sizeof(T));
    for (std::size_t i = 0; i < n; ++i)
      data[i] = T{};
  }
  ~Values() { cudaFree(data); }
  T &operator[](std::size_t i) { return data[i]; }
  std::size_t n;
  T *data;
};
