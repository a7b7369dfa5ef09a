// Cooperative launches of the cpu device, on a device of 2 multiprocessors.
#include "cpu_run.hpp"

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

namespace cg = cooperative_groups;

[[maybe_unused]] static const int environment = setenv("GMPI_CPU_MULTIPROCESSORS", "2", 1);

TEST(CpuGrid, what_fits) {
  EXPECT_EQ(gmpi::cpu::max_resident_blocks(1024, 0), 4);
  EXPECT_EQ(gmpi::cpu::max_resident_blocks(1, 0), 64);
  EXPECT_EQ(gmpi::cpu::max_resident_blocks(33, 0), 64);
  EXPECT_EQ(gmpi::cpu::max_resident_blocks(96, 0), 42);
  EXPECT_EQ(gmpi::cpu::max_resident_blocks(32, 100 * 1024), 4);
  EXPECT_EQ(gmpi::cpu::max_resident_blocks(2000, 0), 0);
  EXPECT_EQ(launch({4, 1024, 0, nullptr, true}, [] {}), cudaSuccess);
  EXPECT_EQ(launch({5, 1024, 0, nullptr, true}, [] {}), cudaErrorCooperativeLaunchTooLarge);
  EXPECT_EQ(cudaGetLastError(), cudaErrorCooperativeLaunchTooLarge);
}

TEST(CpuGrid, all_blocks_meet) {
  constexpr int blocks = 64, rounds = 20;
  Values<int> value(blocks), wrong(1);
  run({blocks, 8, 0, nullptr, true}, [=, value = value.data, wrong = wrong.data] {
    cg::grid_group grid = cg::this_grid();
    const int b = static_cast<int>(blockIdx.x);
    for (int round = 1; round <= rounds; ++round) {
      if (threadIdx.x == 0)
        value[b] = round;
      grid.sync();
      if (value[(b + 1 + static_cast<int>(threadIdx.x)) % blocks] != round)
        atomicAdd(wrong, 1);
      grid.sync();
    }
  });
  EXPECT_EQ(wrong[0], 0);
}

TEST(CpuGrid, blocks_and_threads_that_return_leave) {
  Values<int> count(1);
  run({16, 64, 0, nullptr, true}, [=, count = count.data] {
    if (blockIdx.x == 0 || blockIdx.x == 7 || threadIdx.x == 0)
      return;
    cg::this_grid().sync();
    if (blockIdx.x > 10)
      return;
    if (threadIdx.x % 2 == 0)
      return;
    cg::sync(cg::this_grid());
    atomicAdd(count, 1);
  });
  EXPECT_EQ(count[0], 9 * 32);
}

TEST(CpuGrid, two_that_do_not_fit_together_run_in_turn) {
  Values<int> running(1), wrong(1);
  cudaStream_t streams[3];
  for (cudaStream_t &stream : streams) {
    ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
    launch({3, 1024, 0, stream, true}, [running = running.data, wrong = wrong.data] {
      cg::grid_group grid = cg::this_grid();
      if (grid.thread_rank() == 0 && atomicAdd(running, 1) != 0)
        atomicAdd(wrong, 1);
      grid.sync();
      if (grid.thread_rank() == 0)
        atomicSub(running, 1); // while all blocks are still there
      grid.sync();
    });
  }
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  for (cudaStream_t stream : streams)
    cudaStreamDestroy(stream);
  EXPECT_EQ(wrong[0], 0);
}

TEST(CpuGrid, groups_know_themselves) {
  Values<int> wrong(1);
  run({dim3(2, 3), dim3(8, 8), 0, nullptr, true}, [wrong = wrong.data] {
    cg::thread_block block = cg::this_thread_block();
    cg::grid_group grid = cg::this_grid();
    auto tile = cg::tiled_partition<16>(block);
    const unsigned t = threadIdx.x + 8 * threadIdx.y;
    bool good = block.thread_rank() == t && block.size() == 64 && grid.size() == 384 &&
                grid.thread_rank() == (blockIdx.x + 2 * blockIdx.y) * 64 + t && grid.is_valid() &&
                tile.thread_rank() == t % 16 && tile.meta_group_rank() == t / 16 &&
                tile.meta_group_size() == 4 && tile.size() == 16;
    good = good && tile.shfl(t, 3) == t / 16 * 16 + 3 && tile.any(tile.thread_rank() == 2) &&
           !tile.all(tile.thread_rank() == 2) && tile.ballot(tile.thread_rank() < 2) == 3u;
    good = good && cg::reduce(tile, 1, cg::plus<int>()) == 16 &&
           cg::reduce(tile, static_cast<int>(t), cg::greater<int>()) ==
               static_cast<int>(t / 16 * 16 + 15);
    auto quarter = cg::tiled_partition<4>(tile);
    good = good && quarter.shfl_down(t, 1) == (t % 4 == 3 ? t : t + 1) &&
           quarter.shfl_xor(t, 1) == (t ^ 1);
    cg::coalesced_group alone = cg::coalesced_threads();
    good = good && alone.size() == 1 && alone.thread_rank() == 0;
    block.sync();
    tile.sync();
    if (!good)
      atomicAdd(wrong, 1);
  });
  EXPECT_EQ(wrong[0], 0);
}

TEST(CpuGrid, cooperative_launch_by_cudas_functions) {
  Values<int> out(1);
  void (*kernel)(int *, int) = [](int *out, int n) {
    cg::this_grid().sync();
    atomicAdd(out, n);
  };
  int n = 2;
  void *arguments[] = {&out.data, &n};
  EXPECT_EQ(cudaLaunchCooperativeKernel(kernel, 2, 3, arguments), cudaSuccess);
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeCooperative;
  attribute.val.cooperative = 1;
  cudaLaunchConfig_t config = {2, 3, 0, nullptr, &attribute, 1};
  EXPECT_EQ(cudaLaunchKernelEx(&config, kernel, out.data, n), cudaSuccess);
  EXPECT_EQ(cudaLaunchKernelExC(&config, kernel, arguments), cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(out[0], 36);
}
