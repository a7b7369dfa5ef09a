// MPI's functions as kernels of the cpu device call them are compiled once, in libgmpi_cpu:
// translated files declare what calls_cpu.def lists.
#pragma once

#include "../queue/local_device.hpp"

#define GMPI_GRID_INSTANCE(...) extern template __VA_ARGS__;
#define GMPI_BLOCK_INSTANCE(...) extern template __VA_ARGS__;
#define GMPI_THREAD_INSTANCE(...) extern template __VA_ARGS__;
#include "calls_cpu.def"
