// What the files of CUDA's API share: the last error, and where a call may be made from.
#pragma once

#include "gmpi/cpu/api.hpp"
#include "stream.hpp"

namespace gmpi::cpu {

// Keeps the error for cudaGetLastError, and returns it.
cudaError_t result(cudaError_t error);

// cudaErrorNotPermitted in a host function. In a kernel it fails: a worker that waits for its own
// work would never come back.
cudaError_t may_call(const char *function);

bool is_stream(cudaStream_t handle, cudaStream_t &stream);

} // namespace gmpi::cpu

#define GMPI_CPU_API_BEGIN                                                                         \
  if (cudaError_t not_here = ::gmpi::cpu::may_call(__func__); not_here != cudaSuccess)             \
  return ::gmpi::cpu::result(not_here)
// Resolves the parameter `stream`, or returns cudaErrorInvalidResourceHandle.
#define GMPI_CPU_API_STREAM                                                                        \
  GMPI_CPU_API_BEGIN;                                                                              \
  if (!::gmpi::cpu::is_stream(stream, stream))                                                     \
  return ::gmpi::cpu::result(cudaErrorInvalidResourceHandle)
