// MPI for a test program of one rank, with the runtime's own MPI_Init: proxy and split driver run.
#pragma once

#include "cpu_run.hpp"

#include <gmpi/gmpi.hpp>

#include <gtest/gtest.h>

struct SplitEnvironment : testing::Environment {
  void SetUp() override {
    // A forked copy of a process with threads may find any lock taken: a new process, then.
    testing::FLAGS_gtest_death_test_style = "threadsafe";
    MPI_Init(nullptr, nullptr);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  }
  void TearDown() override { MPI_Finalize(); }
};

inline testing::Environment *const split_environment =
    testing::AddGlobalTestEnvironment(new SplitEnvironment);

/// All launches are over.
inline void wait_for_device() { ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess); }

/// Room for what each of `n` threads has found wrong; 0: nothing.
#define WRONG(condition)                                                                           \
  do {                                                                                             \
    if (!(condition))                                                                              \
      atomicExch(wrong, __LINE__);                                                                 \
  } while (0)

/// A kernel given as a type with `points`, the number of its suspensions, `sizes` of its frame and
/// run<R>(segment, wrong), its body.
template <class K> struct SplitProgram {
  using Sizes = gmpi::split::Sizes;

  static void stub(K, int *) {}
  template <int R> static void segment(gmpi::Segment segment, K kernel, int *wrong) {
    kernel.template run<R>(segment, wrong);
  }
  template <int... R> static gmpi::SplitKernel split(std::integer_sequence<int, R...>) {
    return gmpi::split_kernel(K::sizes,
                              static_cast<void (*)(gmpi::Segment, K, int *)>(segment<R>)...);
  }
  static gmpi::SplitKernel all_segments() {
    return split(std::make_integer_sequence<int, K::points + 1>());
  }
  static void launch(const gmpi::Launch &launch, K kernel, int *wrong) {
    static const gmpi::KernelInfo info = {"tested", 0x5111, 1, gmpi::Scope::grid};
    launch.split(&stub, nullptr, &all_segments, info, kernel, wrong);
  }
};

/// Launches, waits, and expects that no thread has found anything wrong.
template <class K> void run_split(const gmpi::Launch &launch, K kernel) {
  Values<int> wrong(1);
  SplitProgram<K>::launch(launch, kernel, wrong.data);
  wait_for_device();
  EXPECT_EQ(wrong[0], 0) << "in this line";
}

/// Before the call with number P: nothing, or straight to it.
#define GMPI_TEST_POINT(P) if (re ? R == P : true)
