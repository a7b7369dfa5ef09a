// MPI for a test program of one rank, with the runtime's own MPI_Init: proxy and split driver run.
#pragma once

#include "cpu_run.hpp"

#include <gmpi/gmpi.hpp>

#include <gtest/gtest.h>

struct SplitEnvironment : testing::Environment {
  void SetUp() override {
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
