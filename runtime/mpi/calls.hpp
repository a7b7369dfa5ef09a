// MPI's functions as kernels call them, declared: device::MPI_Send<Scope::grid>(site, ...) and so
// on. calls_device.hpp and ../queue/local_device.hpp define them, in each translated file for GPUs.
// Files for the cpu device need no more than this: libgmpi_cpu holds what they call
// (calls_cpu.def). Nor does, with GMPI_CALLS_ELSEWHERE, who wants to know whether a file compiles,
// and does not link it.
#pragma once

#include "../queue/scope.hpp"
#include "functions.hpp"

#if defined(GMPI_DEVICE_CPU)
#define GMPI_DECLARED
#elif defined(GMPI_CALLS_ELSEWHERE)
#define GMPI_DECLARED __device__
#else
#define GMPI_DECLARED __device__ __forceinline__ // as it is defined: nvcc asks for that
#endif

namespace gmpi::device {

#define GMPI_TYPE(role) argument::role
#define GMPI_DECLARE(name, roles)                                                                  \
  template <Scope S> GMPI_DECLARED int MPI_##name(Site, GMPI_LIST(GMPI_TYPE, roles));
#define GMPI_DECLARE_blocking GMPI_DECLARE
#define GMPI_DECLARE_nonblocking GMPI_DECLARE
#define GMPI_DECLARE_collective GMPI_DECLARE
#define GMPI_DECLARE_completion GMPI_DECLARE
#define GMPI_DECLARE_terminal GMPI_DECLARE
#define GMPI_DECLARE_local(name, roles) // local_call
#define GMPI_FUNCTION(name, start, kind, roles) GMPI_DECLARE_##kind(name, roles)
#include "functions.def"

namespace followed {
#define GMPI_FOLLOWED GMPI_DECLARE
#include "followed.def"
} // namespace followed

#undef GMPI_TYPE
#undef GMPI_DECLARE
#undef GMPI_DECLARE_blocking
#undef GMPI_DECLARE_nonblocking
#undef GMPI_DECLARE_collective
#undef GMPI_DECLARE_completion
#undef GMPI_DECLARE_terminal
#undef GMPI_DECLARE_local

/// MPI functions that ask nobody else (../queue/local_device.hpp).
template <Function F> GMPI_DECLARED int local_call(Site site, const Arguments &a);
/// MPI_Wtime: in seconds, as the host's.
template <class = void> GMPI_DECLARED double wtime(Site site);

/// Makes what a grid has left to the next call, which is not sure to come at once, or does not do
/// so itself.
template <class = void> GMPI_DECLARED void make_left(Site site);

} // namespace gmpi::device

#undef GMPI_DECLARED
