// MPI's functions of block scope, for kernels of the cpu device: see calls_cpu.def.
#include "../queue/local_device.hpp"

#define GMPI_BLOCK_INSTANCE(...) template __VA_ARGS__;
#include "calls_cpu.def"
