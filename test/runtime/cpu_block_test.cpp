// Blocks of the cpu device: indices, barriers with leavers, shared memory, large blocks, large
// grids.
#include "cpu_run.hpp"

#include "cpu/sanitizer.hpp"

#include <cooperative_groups.h>

namespace cpu = gmpi::cpu;

// ThreadSanitizer pays for each switch with the number of fibers there are.
constexpr unsigned slower = cpu::thread_sanitizer ? 10 : 1;
[[maybe_unused]] static const int environment =
    cpu::thread_sanitizer ? setenv("GMPI_CPU_MULTIPROCESSORS", "2", 1) : 0;

TEST(CpuBlock, every_thread_runs_once_with_its_indices) {
  const dim3 grid(3, 2, 2), block(4, 3, 2);
  Values<int> seen(12 * 24);
  run({grid, block}, [=, seen = seen.data] {
    const unsigned b = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    const unsigned t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    if (gridDim.x == 3 && gridDim.z == 2 && blockDim.y == 3 && warpSize == 32)
      atomicAdd(&seen[b * 24 + t], 1);
  });
  for (std::size_t i = 0; i < seen.n; ++i)
    EXPECT_EQ(seen[i], 1) << i;
}

TEST(CpuBlock, indices_stay_across_switches) {
  Values<int> wrong(1);
  run({8, 64}, [=, wrong = wrong.data] {
    const uint3 t = threadIdx, b = blockIdx;
    for (int i = 0; i < 10; ++i) {
      i % 2 ? cpu::yield() : __syncthreads();
      if (t.x != threadIdx.x || b.x != blockIdx.x)
        atomicAdd(wrong, 1);
    }
  });
  EXPECT_EQ(wrong[0], 0);
}

TEST(CpuBlock, barrier_orders_writes_and_reads) {
  Values<int> out(1024);
  run({1, 1024}, [=, out = out.data] {
    auto &s = cpu::shared<int[1024]>({1, 2, 3});
    const int t = static_cast<int>(threadIdx.x);
    s[t] = t;
    for (int round = 0; round < 5; ++round) {
      __syncthreads();
      const int next = s[(t + 1) % 1024];
      __syncthreads();
      s[t] = next;
    }
    out[t] = s[t];
  });
  for (int t = 0; t < 1024; ++t)
    EXPECT_EQ(out[t], (t + 5) % 1024);
}

TEST(CpuBlock, threads_that_return_leave_the_barrier) {
  Values<int> out(4);
  run({4, 256}, [=, out = out.data] {
    if (threadIdx.x % 3 == 1)
      return;
    __syncthreads();
    if (threadIdx.x >= 128)
      return;
    for (int i = 0; i < 4; ++i)
      __syncthreads();
    if (threadIdx.x != 63)
      return;
    __syncthreads(); // alone by now
    out[blockIdx.x] = 1;
  });
  for (int b = 0; b < 4; ++b)
    EXPECT_EQ(out[b], 1);
}

TEST(CpuBlock, the_last_to_leave_opens_the_barrier) {
  Values<int> out(1);
  run({1, 64}, [=, out = out.data] {
    if (threadIdx.x == 5) {
      for (int i = 0; i < 20; ++i)
        cpu::yield();
      return;
    }
    __syncthreads();
    atomicAdd(out, 1);
  });
  EXPECT_EQ(out[0], 63);
}

TEST(CpuBlock, votes_of_the_block) {
  Values<int> wrong(1);
  run({2, 96}, [=, wrong = wrong.data] {
    const int t = static_cast<int>(threadIdx.x);
    for (int k = 1; k < 96; k += 7) {
      if (__syncthreads_count(t < k) != k || __syncthreads_and(t < k) || !__syncthreads_or(t < k) ||
          !__syncthreads_and(t < 96) || __syncthreads_or(t < 0))
        atomicAdd(wrong, 1);
    }
  });
  EXPECT_EQ(wrong[0], 0);
}

TEST(CpuBlock, shared_memory_is_the_blocks_and_marked) {
  Values<int> wrong(1);
  run({16, 32, 256}, [=, wrong = wrong.data] {
    auto &a = cpu::shared<unsigned>({1, 10, 1});
    auto &b = cpu::shared<double[8]>({1, 11, 1});
    auto &c = cpu::shared<unsigned>({1, 11, 1}); // same place, another instantiation's type
    auto *d = cpu::dynamic_shared<unsigned>();
    if (threadIdx.x == 0 && (a != 0xa5a5a5a5u || c != 0xa5a5a5a5u || d[63] != 0xa5a5a5a5u))
      atomicAdd(wrong, 1);
    __syncthreads();
    if (threadIdx.x == 3)
      a = blockIdx.x, b[7] = blockIdx.x, c = 7, d[63] = blockIdx.x;
    __syncthreads();
    if (a != blockIdx.x || b[7] != blockIdx.x || c != 7 || d[63] != blockIdx.x)
      atomicAdd(wrong, 1);
    int local = 0;
    if (!cpu::is_shared(&a) || !cpu::is_shared(d) || cpu::is_shared(&local) ||
        !cpu::is_local(&local) || cpu::is_local(&a) || cpu::is_shared(wrong) ||
        cpu::dynamic_shared_bytes() != 256)
      atomicAdd(wrong, 1);
  });
  EXPECT_EQ(wrong[0], 0);
}

TEST(CpuBlock, a_grid_larger_than_the_device) {
  constexpr unsigned blocks = 20000 / slower;
  Values<int> count(1);
  run({blocks, 32}, [count = count.data] { atomicAdd(count, 1); });
  EXPECT_EQ(count[0], static_cast<int>(blocks * 32));
}

TEST(CpuBlock, blocks_beyond_the_places_wait_for_them) {
  constexpr unsigned blocks = 100 / slower; // of 1024 threads; 16 places
  Values<int> resident(1), most(1), count(1);
  run({blocks, 1024}, [=, resident = resident.data, most = most.data, count = count.data] {
    if (threadIdx.x == 0)
      atomicMax(most, atomicAdd(resident, 1) + 1);
    __syncthreads();
    atomicAdd(count, 1);
    __syncthreads();
    if (threadIdx.x == 0)
      atomicSub(resident, 1);
  });
  EXPECT_EQ(count[0], static_cast<int>(blocks * 1024));
  EXPECT_LE(most[0], 16);
}

TEST(CpuBlock, a_full_device_at_once) {
  if (cpu::thread_sanitizer)
    GTEST_SKIP() << "ThreadSanitizer knows no more than some 8000 fibers";
  Values<int> count(2), wrong(1);
  run({16, 1024, 0, nullptr, true}, [count = count.data, wrong = wrong.data] {
    for (int round = 0; round < 2; ++round) {
      atomicAdd(&count[round], 1);
      cooperative_groups::this_grid().sync();
      if (atomicAdd(&count[round], 0) != 16 * 1024)
        atomicAdd(wrong, 1);
    }
  });
  EXPECT_EQ(wrong[0], 0);
}

TEST(CpuBlock, a_block_may_wait_for_a_later_one) {
  Values<int> flag(16);
  run({16, 64}, [flag = flag.data] {
    if (threadIdx.x == 0) {
      if (blockIdx.x + 1 < gridDim.x)
        while (atomicAdd(&flag[blockIdx.x + 1], 0) == 0) {
        }
      atomicExch(&flag[blockIdx.x], 1);
    }
    __syncthreads();
  });
  EXPECT_EQ(flag[0], 1);
}

TEST(CpuBlock, locks_among_the_threads_of_a_warp) {
  Values<int> lock(1), count(1);
  constexpr unsigned blocks = cpu::thread_sanitizer ? 1 : 4;
  run({blocks, 128}, [lock = lock.data, count = count.data] {
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    const int seen = *count;
    cpu::yield();
    *count = seen + 1;
    __threadfence();
    atomicExch(lock, 0);
  });
  EXPECT_EQ(count[0], static_cast<int>(blocks * 128));
}

TEST(CpuBlock, polling_plain_memory) {
  if (cpu::address_sanitizer || cpu::thread_sanitizer)
    GTEST_SKIP() << "threads are not interrupted under sanitizers";
  Values<int> flag(2), count(1);
  run({4, 16}, [flag = flag.data, count = count.data] {
    volatile int *mine = &flag[0], *later = &flag[1];
    if (blockIdx.x == 0) {
      while (*mine == 0) {
      }
      atomicAdd(count, 1);
    } else if (blockIdx.x == 3 && threadIdx.x == 15) {
      while (*later == 0) {
      }
      *mine = 1;
    } else if (blockIdx.x == 2 && threadIdx.x == 3) {
      *later = 1;
    }
  });
  EXPECT_EQ(count[0], 16);
}

TEST(CpuBlock, launches_are_checked) {
  auto nothing = [] {};
  EXPECT_EQ(launch({0, 1}, nothing), cudaErrorInvalidConfiguration);
  EXPECT_EQ(launch({1, 1025}, nothing), cudaErrorInvalidConfiguration);
  EXPECT_EQ(launch({1, dim3(1, 1, 65)}, nothing), cudaErrorInvalidConfiguration);
  EXPECT_EQ(launch({dim3(1, 65536), 1}, nothing), cudaErrorInvalidConfiguration);
  EXPECT_EQ(launch({1, 1, 300 * 1024}, nothing), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

namespace {
struct Pair {
  int first;
  double second;
};
__global__ void add(int *out, Pair pair, const float scale) {
  pair.first += 1; // each thread's own copy
  atomicAdd(out, static_cast<int>((pair.first + pair.second) * scale));
}
} // namespace

TEST(CpuBlock, arguments_by_pointer_and_by_value) {
  Values<int> out(1);
  int *p = out.data;
  Pair pair{1, 2.0};
  float scale = 3.0f;
  void *arguments[] = {&p, &pair, &scale};
  EXPECT_EQ(cudaLaunchKernel(add, 2, 5, arguments), cudaSuccess);
  p = nullptr, scale = 0; // copied at the launch
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(out[0], 120);
  cudaLaunchConfig_t config = {};
  config.gridDim = 1, config.blockDim = 2;
  EXPECT_EQ(cudaLaunchKernelEx(&config, add, out.data, pair, 1), cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(out[0], 128);
  EXPECT_EQ(cudaLaunchKernel(reinterpret_cast<const void *>(add), 1, 1, arguments),
            cudaErrorInvalidDeviceFunction);
  cudaGetLastError();
}
