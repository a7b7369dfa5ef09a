// Open MPI's predefined handles in device code. They are addresses of host variables, which device
// code cannot name; its macro for them is redefined to read the values from this module's Context,
// which the host fills. `comm == MPI_COMM_WORLD` and the user's own macros work on both sides.
#pragma once

#include "../launch/participant_device.hpp"

#if defined(OPEN_MPI) && defined(__CUDA_ARCH__)
#undef OMPI_PREDEFINED_GLOBAL
#define OMPI_PREDEFINED_GLOBAL(type, global)                                                       \
  (static_cast<type>(::gmpi::device::context.handles[static_cast<int>(::gmpi::Handle::global)]))
#endif
