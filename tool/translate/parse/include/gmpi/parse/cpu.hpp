// Before a translation for the cpu device, when the translator parses it: kernels and launches there are
// what they are for a GPU, and so are the runtime's headers here, but for block-shared storage.
#pragma once
#pragma GCC system_header
#undef GMPI_DEVICE_CPU
#include <gmpi/gmpi.hpp>
#define GMPI_DEVICE_CPU 1

namespace gmpi::cpu {
struct SharedSite {
  unsigned file, line, column;
};
template <class T> __host__ __device__ T &shared(SharedSite site);
template <class T> __host__ __device__ T *dynamic_shared();
} // namespace gmpi::cpu
