// MPI's functions of grid scope, for kernels of the cpu device: see calls_cpu.def.
#include "../queue/local_device.hpp"

#define GMPI_GRID_INSTANCE(...) template __VA_ARGS__;
#include "calls_cpu.def"
