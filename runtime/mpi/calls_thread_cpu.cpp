// MPI's functions of thread scope, for kernels of the cpu device: see calls_cpu.def.
#include "../queue/local_device.hpp"

#define GMPI_THREAD_INSTANCE(...) template __VA_ARGS__;
#include "calls_cpu.def"
