// MPI's functions as kernels of the cpu device call them are compiled once, in libgmpi_cpu:
// translated files declare what calls_cpu.def lists. So do those of the cuda device with
// GMPI_CALLS_ELSEWHERE: for who wants to know whether a file compiles, and does not link it.
#pragma once

#include "../queue/local_device.hpp"

#ifdef GMPI_DEVICE_CPU
#define GMPI_DECLARED
#else
#define GMPI_DECLARED __device__
#endif
#define GMPI_GRID_INSTANCE(...) extern template GMPI_DECLARED __VA_ARGS__;
#define GMPI_BLOCK_INSTANCE(...) extern template GMPI_DECLARED __VA_ARGS__;
#define GMPI_THREAD_INSTANCE(...) extern template GMPI_DECLARED __VA_ARGS__;
#include "calls_cpu.def"
#undef GMPI_DECLARED
