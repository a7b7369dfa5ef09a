// MPI errors. MPI_ERRORS_ARE_FATAL is carried out by the runtime's own error handler, so that the
// last words name the rank, the function, the user's source line and MPI's own text.
#pragma once

#include <mpi.h>

#include <string>

namespace gmpi {

struct Operation;

/// While one lives, this thread's calls of MPI are made for that operation, and the handler names it.
class MpiCallsFor {
public:
  explicit MpiCallsFor(const Operation &operation) { current_ = &operation; }
  ~MpiCallsFor() { current_ = nullptr; }
  MpiCallsFor(const MpiCallsFor &) = delete;
  MpiCallsFor &operator=(const MpiCallsFor &) = delete;

  /// The operation, or null.
  static const Operation *current() { return current_; }

private:
  static thread_local const Operation *current_;
};

/// Installs the handler on MPI_COMM_WORLD and MPI_COMM_SELF; communicators made from them inherit.
void install_error_handler();
void remove_error_handler();

/// MPI's own words for an error code.
std::string text_of(int error);

/// What MPI_Comm_set_errhandler is to set, what MPI_Comm_get_errhandler is to tell the user, and what
/// MPI_Errhandler_free is to free: a reference that was told under another name is freed as what it is.
MPI_Errhandler handler_to_set(MPI_Errhandler user);
MPI_Errhandler handler_to_tell(MPI_Errhandler set);
MPI_Errhandler handler_to_free(MPI_Errhandler told);

} // namespace gmpi
