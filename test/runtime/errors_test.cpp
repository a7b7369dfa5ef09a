// Error handlers as the host program sees them: it is told MPI_ERRORS_ARE_FATAL where the runtime's own
// handler stands in, and may free what it is told, as often as it asks. Open MPI counts references to
// the predefined handlers too, and refuses to free what nobody holds.
#include "mpi_environment.hpp"

#include "proxy/errors.hpp"

#include <atomic>

namespace {

constexpr int often = 100; // more than MPI itself holds references

struct ErrorHandlers : testing::Test {
  void SetUp() override { gmpi::install_error_handler(); }
  void TearDown() override {
    gmpi::remove_error_handler();
    PMPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    PMPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  }

  static MPI_Errhandler handler_of(MPI_Comm comm) {
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    EXPECT_EQ(MPI_Comm_get_errhandler(comm, &handler), MPI_SUCCESS);
    return handler;
  }
};

std::atomic<int> errors{0};
void count(MPI_Comm *, int *, ...) { ++errors; }

} // namespace

TEST_F(ErrorHandlers, what_is_told_may_be_freed) {
  MPI_Comm copy = MPI_COMM_NULL; // inherits the handler
  PMPI_Comm_dup(MPI_COMM_SELF, &copy);
  for (int i = 0; i < often; ++i)
    for (MPI_Comm comm : {MPI_COMM_WORLD, MPI_COMM_SELF, copy}) {
      MPI_Errhandler handler = handler_of(comm);
      EXPECT_EQ(handler, MPI_ERRORS_ARE_FATAL);
      ASSERT_EQ(MPI_Errhandler_free(&handler), MPI_SUCCESS) << i;
      EXPECT_EQ(handler, MPI_ERRHANDLER_NULL);
    }
  PMPI_Comm_free(&copy);
}

/// As a library does that wants errors returned while it is at work.
TEST_F(ErrorHandlers, saved_and_restored) {
  for (int i = 0; i < often; ++i) {
    MPI_Errhandler saved = handler_of(MPI_COMM_SELF);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Errhandler inside = handler_of(MPI_COMM_SELF);
    EXPECT_EQ(inside, MPI_ERRORS_RETURN);
    ASSERT_EQ(MPI_Errhandler_free(&inside), MPI_SUCCESS) << i;
    MPI_Comm_set_errhandler(MPI_COMM_SELF, saved);
    ASSERT_EQ(MPI_Errhandler_free(&saved), MPI_SUCCESS) << i;
  }
  EXPECT_EQ(handler_of(MPI_COMM_SELF), MPI_ERRORS_ARE_FATAL);
}

/// At MPI_Finalize the handlers that the program has set are predefined, its own, or the runtime's.
TEST_F(ErrorHandlers, removed_whatever_is_set) {
  MPI_Errhandler own = MPI_ERRHANDLER_NULL;
  MPI_Comm_create_errhandler(count, &own);
  for (MPI_Errhandler set : {MPI_ERRORS_RETURN, MPI_ERRORS_ARE_FATAL, own})
    for (int i = 0; i < often; ++i) {
      MPI_Comm_set_errhandler(MPI_COMM_SELF, set);
      gmpi::remove_error_handler();
      MPI_Errhandler left = handler_of(MPI_COMM_SELF);
      EXPECT_EQ(left, set);
      ASSERT_EQ(MPI_Errhandler_free(&left), MPI_SUCCESS) << i;
      gmpi::install_error_handler();
    }
  MPI_Comm_set_errhandler(MPI_COMM_SELF, own);
  ASSERT_EQ(MPI_Errhandler_free(&own), MPI_SUCCESS);
  PMPI_Comm_call_errhandler(MPI_COMM_SELF, MPI_ERR_OTHER); // it lives on while it is set
  EXPECT_EQ(errors, 1);
}
