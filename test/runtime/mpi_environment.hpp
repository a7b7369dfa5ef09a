// MPI for a test program of one rank, without the runtime's own MPI_Init: no proxy runs, the test
// plays its part. MPI's errors are returned.
#pragma once

#include "mpi/mpi_library.hpp"

#include <gtest/gtest.h>

struct MpiEnvironment : testing::Environment {
  void SetUp() override {
    int given = 0;
    ASSERT_EQ(PMPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &given), MPI_SUCCESS);
    ASSERT_EQ(given, MPI_THREAD_MULTIPLE);
    PMPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    PMPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  }
  void TearDown() override { PMPI_Finalize(); }
};

inline testing::Environment *const mpi_environment =
    testing::AddGlobalTestEnvironment(new MpiEnvironment);

inline int class_of(int error) {
  int value = MPI_SUCCESS;
  PMPI_Error_class(error, &value);
  return value;
}
