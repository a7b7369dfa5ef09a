// MPI's functions of block scope, for kernels of the cpu device: see calls_cpu.def.
#include "calls_cpu.hpp"

#define GMPI_BLOCK_INSTANCE(...) template __VA_ARGS__;
#include "calls_cpu.def"
