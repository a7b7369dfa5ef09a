// The fatal error handler.
#include "errors.hpp"

#include "exit.hpp"
#include "operation.hpp"
#include "report.hpp"

#include <atomic>

namespace gmpi {

namespace {

MPI_Errhandler fatal_handler = MPI_ERRHANDLER_NULL;
/// References to fatal_handler that the program holds under the name of MPI_ERRORS_ARE_FATAL.
std::atomic<int> references_told{0};

void die(MPI_Comm *communicator, int *error, ...) {
  if (const Operation *operation = MpiCallsFor::current())
    say("%s failed in a kernel, at %s (%s scope): %s",
        name_of(operation->attribute.function), place(operation->attribute.site).c_str(),
        name_of(operation->attribute.scope), text_of(*error).c_str());
  else
    say("an MPI call of the host program failed: %s", text_of(*error).c_str());
  end_job(*communicator, *error);
}

} // namespace

thread_local const Operation *MpiCallsFor::current_ = nullptr;

std::string text_of(int error) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  PMPI_Error_string(error, text, &length);
  return std::string(text, length);
}

void install_error_handler() {
  PMPI_Comm_create_errhandler(die, &fatal_handler);
  for (MPI_Comm communicator : {MPI_COMM_WORLD, MPI_COMM_SELF})
    PMPI_Comm_set_errhandler(communicator, fatal_handler);
}

/// MPI_Comm_get_errhandler behaves as if it made a new handler (MPI 4.0, 9.3): each one that it returns is
/// freed, a predefined one too.
void remove_error_handler() {
  if (fatal_handler == MPI_ERRHANDLER_NULL)
    return;
  for (MPI_Comm communicator : {MPI_COMM_WORLD, MPI_COMM_SELF}) {
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    PMPI_Comm_get_errhandler(communicator, &handler);
    if (handler == fatal_handler)
      PMPI_Comm_set_errhandler(communicator, MPI_ERRORS_ARE_FATAL);
    PMPI_Errhandler_free(&handler);
  }
  PMPI_Errhandler_free(&fatal_handler);
  references_told = 0;
}

MPI_Errhandler handler_to_set(MPI_Errhandler user) {
  return user == MPI_ERRORS_ARE_FATAL && fatal_handler != MPI_ERRHANDLER_NULL ? fatal_handler : user;
}

MPI_Errhandler handler_to_tell(MPI_Errhandler set) {
  if (set != fatal_handler || set == MPI_ERRHANDLER_NULL)
    return set;
  ++references_told;
  return MPI_ERRORS_ARE_FATAL;
}

MPI_Errhandler handler_to_free(MPI_Errhandler told) {
  int references = told == MPI_ERRORS_ARE_FATAL ? references_told.load() : 0;
  while (references > 0)
    if (references_told.compare_exchange_weak(references, references - 1))
      return fatal_handler;
  return told;
}

} // namespace gmpi
