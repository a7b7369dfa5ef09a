// Each role is passed on, but for those that only the blocking form has (its status) or that
// becomes ours (the new request), which always stands last.
#include "start.hpp"

#include <tuple>

namespace gmpi {

namespace {

enum class Use {
  buffer_in,
  buffer_out,
  buffer_inout,
  value,
  request_out,
  request,
  requests,
  status_out,
  statuses_out,
  status_in,
  result_out
};

template <Use U, class T> auto part(T value) {
  if constexpr (U == Use::status_out || U == Use::request_out)
    return std::tuple<>();
  else
    return std::tuple<T>(value);
}

#define GMPI_ARGUMENT(role, type, use)                                                             \
  auto part_##role(const Arguments &arguments) { return part<Use::use>(arguments.role); }
#include "../mpi/functions.def"

struct NotStarted {};
constexpr NotStarted PMPI_None;

template <class Start, class... Parts>
int start(Start function, MPI_Request *request, Parts... parts) {
  return std::apply(function, std::tuple_cat(parts..., std::tuple<MPI_Request *>(request)));
}
template <class... Parts> int start(NotStarted, MPI_Request *, Parts...) {
  return MPI_ERR_UNSUPPORTED_OPERATION;
}

} // namespace

int start_nonblocking(Function function, const Arguments &arguments, MPI_Request *request) {
  switch (function) {
#define GMPI_PART(role) part_##role(arguments)
#define GMPI_FUNCTION(name, start_name, kind, roles)                                               \
  case Function::name:                                                                             \
    return start(PMPI_##start_name, request, GMPI_LIST(GMPI_PART, roles));
#include "../mpi/functions.def"
  default:
    return MPI_ERR_UNSUPPORTED_OPERATION;
  }
}

} // namespace gmpi
