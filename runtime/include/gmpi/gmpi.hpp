// What a translated file includes first: MPI, and MPI's functions as kernels call them, once a
// scope (gmpi::grid::MPI_Send and so on). They take the call's place in the user's program first,
// then exactly MPI's arguments; errors are MPI's, after the communicator's error handler. Called on
// the host they are MPI's own functions.
#pragma once

#include "../../launch/launch.hpp"
#include "../../mpi/calls.hpp"
#include "../../split/suspend_device.hpp"
#if !defined(GMPI_DEVICE_CPU) && !defined(GMPI_CALLS_ELSEWHERE)
#include "../../queue/local_device.hpp"
#endif

namespace gmpi {

#if defined(__CUDA_ARCH__)
#define GMPI_ON_HOST(call)
#elif defined(GMPI_DEVICE_CPU)
#define GMPI_ON_HOST(call)                                                                         \
  if (!cpu::in_kernel())                                                                           \
    return call;
#else
#define GMPI_ON_HOST(call) return call;
#endif
#if defined(__CUDA_ARCH__) || defined(GMPI_DEVICE_CPU)
#define GMPI_ON_DEVICE(...) __VA_ARGS__
#else
#define GMPI_ON_DEVICE(...)
#endif

namespace {
/// This translation unit's Context is filled before its first kernel with MPI runs.
const Module gmpi_module(&device::context);
} // namespace

#define GMPI_CALL_local(scope, name, roles)                                                        \
  Arguments a{};                                                                                   \
  GMPI_EACH(GMPI_ASSIGN, roles)                                                                    \
  return device::local_call<Function::name>(site, a);
#define GMPI_CALL_blocking(scope, name, roles)                                                     \
  return device::MPI_##name<Scope::scope>(site, GMPI_LIST(GMPI_PASS, roles));
#define GMPI_CALL_nonblocking GMPI_CALL_blocking
#define GMPI_CALL_collective GMPI_CALL_blocking
#define GMPI_CALL_terminal GMPI_CALL_blocking
#define GMPI_CALL_completion GMPI_CALL_blocking
#define GMPI_PARAMETER(role) argument::role role
#define GMPI_ASSIGN(role) a.role = role;
#define GMPI_PASS(role) role
#define GMPI_STUB(scope_name, name, kind, roles)                                                   \
  GMPI_HOST_DEVICE inline int MPI_##name([[maybe_unused]] Site site,                               \
                                         GMPI_LIST(GMPI_PARAMETER, roles)) {                       \
    GMPI_ON_HOST(::MPI_##name(GMPI_LIST(GMPI_PASS, roles)))                                        \
    GMPI_ON_DEVICE(GMPI_CALL_##kind(scope_name, name, roles))                                      \
  }
#define GMPI_STUB_WTIME                                                                            \
  GMPI_HOST_DEVICE inline double MPI_Wtime([[maybe_unused]] Site site) {                           \
    GMPI_ON_HOST(::MPI_Wtime())                                                                    \
    GMPI_ON_DEVICE(return device::wtime(site);)                                                    \
  }

namespace grid {
#define GMPI_FUNCTION(name, start, kind, roles) GMPI_STUB(grid, name, kind, roles)
#include "../../mpi/functions.def"
GMPI_STUB_WTIME

/// Of calls behind which another of the grid's comes at once, as the translator has seen: these may
/// be left to that one. (Templates, so that a file without them carries none.)
namespace followed {
#define GMPI_FOLLOWED(name, roles)                                                                 \
  template <class = void>                                                                          \
  GMPI_HOST_DEVICE inline int MPI_##name([[maybe_unused]] Site site,                               \
                                         GMPI_LIST(GMPI_PARAMETER, roles)) {                       \
    GMPI_ON_HOST(::MPI_##name(GMPI_LIST(GMPI_PASS, roles)))                                        \
    GMPI_ON_DEVICE(                                                                                \
        return device::followed::MPI_##name<Scope::grid>(site, GMPI_LIST(GMPI_PASS, roles));)      \
  }
#include "../../mpi/followed.def"
} // namespace followed

/// Makes those of them that have been left, where no other call is sure to come at once.
GMPI_HOST_DEVICE inline void make_left([[maybe_unused]] Site site) {
  GMPI_ON_HOST()
  GMPI_ON_DEVICE(device::make_left(site);)
}
} // namespace grid

namespace block {
#define GMPI_FUNCTION(name, start, kind, roles) GMPI_STUB(block, name, kind, roles)
#include "../../mpi/functions.def"
GMPI_STUB_WTIME
} // namespace block

namespace thread {
#define GMPI_FUNCTION(name, start, kind, roles) GMPI_STUB(thread, name, kind, roles)
#include "../../mpi/functions.def"
GMPI_STUB_WTIME
} // namespace thread

#undef GMPI_STUB
#undef GMPI_STUB_WTIME
#undef GMPI_ON_HOST
#undef GMPI_ON_DEVICE
#undef GMPI_PARAMETER
#undef GMPI_ASSIGN
#undef GMPI_PASS
#undef GMPI_CALL_local
#undef GMPI_CALL_blocking
#undef GMPI_CALL_nonblocking
#undef GMPI_CALL_collective
#undef GMPI_CALL_terminal
#undef GMPI_CALL_completion

} // namespace gmpi
