// What the cpu device reports before it aborts: divergent barriers, faults, overruns.
#include "cpu_run.hpp"

#include "cpu/sanitizer.hpp"

#include <cooperative_groups.h>

#include <csignal>
#include <stdexcept>

namespace cpu = gmpi::cpu;

namespace {

template <class F> void run_and_wait(Shape shape, F thread) {
  shape.name = "relax";
  launch(shape, thread);
  cudaDeviceSynchronize();
}

// Barriers are told apart by their lines, which a macro's arguments do not have.
void two_barriers() {
  if (threadIdx.x < 10)
    __syncthreads();
  else
    __syncthreads();
}
void two_grid_barriers() {
  if (blockIdx.x == 0)
    cooperative_groups::this_grid().sync();
  else
    cooperative_groups::this_grid().sync();
}

class CpuReport : public testing::Test {
protected:
  void SetUp() override { testing::FLAGS_gtest_death_test_style = "threadsafe"; }
};

} // namespace

TEST_F(CpuReport, two_barriers_of_one_block) {
  EXPECT_DEATH(run_and_wait({dim3(1, 2), 64}, two_barriers),
               "divergent barrier: no thread of block \\(0,[01],0\\), kernel 'relax', can go on:"
               ".*10 of its threads wait at the block barrier at .*cpu_report_test.cpp:[0-9]+"
               ".*54 of its threads wait at the block barrier at .*cpu_report_test.cpp:[0-9]+");
}

TEST_F(CpuReport, a_barrier_and_a_warp_operation) {
  EXPECT_DEATH(run_and_wait({1, 64},
                            [] {
                              if (threadIdx.x == 40)
                                return;
                              if (threadIdx.x == 3)
                                __syncthreads();
                              else
                                __syncwarp();
                            }),
               "1 of its threads wait at the block barrier.*"
               "31 of its threads wait in the warp operation.*32 have returned");
}

TEST_F(CpuReport, a_grid_barrier_that_not_all_reach) {
  EXPECT_DEATH(run_and_wait({2, 8, 0, nullptr, true},
                            [] {
                              if (threadIdx.x == 0)
                                __syncthreads();
                              else
                                cooperative_groups::this_grid().sync();
                            }),
               "1 of its threads wait at the block barrier.*7 of its threads wait at the grid");
  EXPECT_DEATH(run_and_wait({2, 8, 0, nullptr, true}, two_grid_barriers),
               "divergent grid barrier: some blocks are at");
  EXPECT_DEATH(run_and_wait({2, 8}, [] { cooperative_groups::this_grid().sync(); }),
               "grid barrier in a kernel that was not launched cooperatively");
}

TEST_F(CpuReport, a_lane_outside_of_its_mask) {
  EXPECT_DEATH(run_and_wait({1, 32}, [] { __syncwarp(0xfffeu); }),
               "lane 0 is not in the mask 0x0000fffe.*kernel 'relax', block \\(0,0,0\\), thread "
               "\\(0,0,0\\)");
}

TEST_F(CpuReport, past_the_end) {
  EXPECT_DEATH(
      {
        int *p;
        cudaMalloc(&p, 1024);
        run_and_wait({dim3(1, 3), 512}, [p] {
          if (blockIdx.y == 1)
            p[threadIdx.x] = 1;
        });
      },
      "write to 0x[0-9a-f]+, 0 bytes past the end of the 1024 bytes allocated by cudaMalloc.*"
      "kernel 'relax', block \\(0,1,0\\), thread \\(256,0,0\\)");
}

TEST_F(CpuReport, before_the_begin) {
  EXPECT_DEATH(
      {
        int *p;
        cudaMalloc(&p, 4096);
        run_and_wait({1, 1}, [p] { (void)static_cast<volatile int *>(p)[-2]; });
      },
      "read of 0x[0-9a-f]+, 8 bytes before the 4096 bytes allocated by cudaMalloc");
}

TEST_F(CpuReport, within_the_rounding) {
  EXPECT_DEATH(
      {
        char *p;
        cudaMalloc(&p, 1000);
        run_and_wait({1, 1}, [p] { p[1003] = 1; });
      },
      "something wrote 3 bytes past the end of the 1000 bytes allocated by cudaMalloc.*'relax'");
}

TEST_F(CpuReport, after_free) {
  EXPECT_DEATH(
      {
        int *p;
        cudaMalloc(&p, 1024);
        cudaFree(p);
        run_and_wait({1, 1}, [p] { p[5] = 1; });
      },
      "byte 20 of the 1024 bytes allocated by cudaMalloc and freed since");
}

TEST_F(CpuReport, a_host_access_to_freed_memory) {
  EXPECT_DEATH(
      {
        int *p;
        cudaMalloc(&p, 1024);
        run_and_wait({1, 1}, [] {});
        cudaFree(p);
        *static_cast<volatile int *>(p) = 1;
      },
      "byte 0 of the 1024 bytes allocated by cudaMalloc and freed since");
}

TEST_F(CpuReport, a_null_pointer) {
  EXPECT_DEATH(run_and_wait({1, 1},
                            [] {
                              volatile int *volatile p = nullptr;
                              p[2] = 1;
                            }),
               "write to address 0x8: a null pointer.*kernel 'relax'");
}

TEST_F(CpuReport, past_shared_memory) {
  EXPECT_DEATH(run_and_wait({1, 32},
                            [] {
                              auto &s = cpu::shared<int[32]>({1, 42, 3});
                              s[threadIdx.x] = 0;
                              static_cast<volatile int *>(s)[threadIdx.x + 1] = 1;
                            }),
               "past the end of the __shared__ variable of 128 bytes declared in line 42");
  EXPECT_DEATH(run_and_wait({1, 1, 16}, [] { cpu::dynamic_shared<volatile char>()[17] = 1; }),
               "past the end of the 16 bytes of dynamic shared memory, 1 bytes behind");
}

TEST_F(CpuReport, too_much_shared_memory) {
  EXPECT_DEATH(run_and_wait({1, 1},
                            [] {
                              cpu::shared<char[300000]>({1, 1, 1})[0] = 1;
                            }),
               "shared variables take 300000 bytes");
}

static int overflow(int n) {
  volatile char room[1000];
  room[n % 1000] = static_cast<char>(n);
  return n == 0 ? 0 : overflow(n - 1) + room[n % 1000];
}

TEST_F(CpuReport, stack_overflow) {
  if (cpu::address_sanitizer)
    GTEST_SKIP() << "AddressSanitizer reports it in its own words";
  EXPECT_DEATH(run_and_wait({1, 1}, [] { overflow(100000); }),
               "stack overflow.*GMPI_CPU_STACK_KB.*kernel 'relax'");
}

TEST_F(CpuReport, traps_assertions_and_exceptions) {
  EXPECT_DEATH(run_and_wait({1, 3},
                            [] {
                              if (threadIdx.x == 2)
                                __trap();
                            }),
               "__trap.*thread \\(2,0,0\\)");
  EXPECT_DEATH(run_and_wait({1, 1}, [] { std::abort(); }),
               "aborted \\[kernel 'relax', block \\(0,0,0\\), thread \\(0,0,0\\)\\]");
  EXPECT_DEATH(run_and_wait({1, 1}, [] { throw std::runtime_error("oops"); }),
               "uncaught exception: oops.*kernel 'relax'");
  EXPECT_DEATH(run_and_wait({1, 1},
                            [] {
                              volatile int zero = 0;
                              zero = 7 / zero;
                            }),
               "integer division by zero.*kernel 'relax'");
}

TEST_F(CpuReport, host_functions_in_kernels) {
  EXPECT_DEATH(run_and_wait({1, 1}, [] { cudaDeviceSynchronize(); }),
               "cudaDeviceSynchronize is called in a kernel");
}

TEST_F(CpuReport, the_launch_is_told_that_it_is_abandoned) {
  EXPECT_DEATH(
      {
        cpu::KernelLaunch launch;
        launch.thread = [] { cpu::fail("%s", "first"); };
        launch.on_abandon = [] { std::fputs("then this\n", stderr); };
        cpu::launch(std::move(launch));
        cudaDeviceSynchronize();
      },
      "first(.|\n)*then this");
}

TEST_F(CpuReport, exit_while_a_kernel_runs) {
  EXPECT_EXIT(
      {
        launch({4, 64}, [] {
          for (;;)
            cpu::yield();
        });
        std::exit(7);
      },
      testing::ExitedWithCode(7), "");
}
