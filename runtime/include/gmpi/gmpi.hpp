// What a translated file includes first: MPI, and MPI's functions as kernels call them, once a
// scope (gmpi::grid::MPI_Send and so on). They take the call's place in the user's program first,
// then exactly MPI's arguments; errors are MPI's, after the communicator's error handler. Called on
// the host they are MPI's own functions.
#pragma once

#include "../../launch/launch.hpp"
#include "../../queue/local_device.hpp"
#include "../../split/suspend_device.hpp"

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

namespace device {

/// Dispatches on the function's kind, at compile time.
template <Scope S, Function F> GMPI_DEVICE int call(Site site, const Arguments &a) {
  if constexpr (kind_of(F) == Kind::local) {
    return local_call(F, site, a);
  } else if constexpr (F == Function::Waitall) {
    // With statuses: one rendezvous a request, since each has a result of its own.
    if (a.statuses == MPI_STATUSES_IGNORE)
      return S == Scope::grid ? grid_call(F, site, a)
                              : S == Scope::block ? block_call(F, site, a) : thread_call(F, site, a);
    int error = MPI_SUCCESS;
    for (int i = 0; i < a.count; ++i) {
      Arguments one{};
      one.request = a.requests + i;
      one.status = a.statuses + i;
      if (call<S, Function::Wait>(site, one) != MPI_SUCCESS)
        error = MPI_ERR_IN_STATUS;
    }
    return error;
  } else if constexpr (S == Scope::grid) {
    return grid_call(F, site, a);
  } else if constexpr (S == Scope::block) {
    return block_call(F, site, a);
  } else {
    return thread_call(F, site, a);
  }
}

} // namespace device

#define GMPI_PARAMETER(role) argument::role role
#define GMPI_ASSIGN(role) a.role = role;
#define GMPI_PASS(role) role
#define GMPI_STUB(scope_name, name, roles)                                                         \
  GMPI_HOST_DEVICE inline int MPI_##name([[maybe_unused]] Site site,                               \
                                         GMPI_LIST(GMPI_PARAMETER, roles)) {                       \
    GMPI_ON_HOST(::MPI_##name(GMPI_LIST(GMPI_PASS, roles)))                                        \
    GMPI_ON_DEVICE(Arguments a{}; GMPI_EACH(GMPI_ASSIGN, roles)                                    \
                       return device::call<Scope::scope_name, Function::name>(site, a);)           \
  }
#define GMPI_STUB_WTIME                                                                            \
  GMPI_HOST_DEVICE inline double MPI_Wtime([[maybe_unused]] Site site) {                           \
    GMPI_ON_HOST(::MPI_Wtime())                                                                    \
    GMPI_ON_DEVICE(return device::wtime(site);)                                                    \
  }

namespace grid {
#define GMPI_FUNCTION(name, start, kind, roles) GMPI_STUB(grid, name, roles)
#include "../../mpi/functions.def"
GMPI_STUB_WTIME
} // namespace grid

namespace block {
#define GMPI_FUNCTION(name, start, kind, roles) GMPI_STUB(block, name, roles)
#include "../../mpi/functions.def"
GMPI_STUB_WTIME
} // namespace block

namespace thread {
#define GMPI_FUNCTION(name, start, kind, roles) GMPI_STUB(thread, name, roles)
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

} // namespace gmpi
