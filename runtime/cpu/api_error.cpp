// Errors: names, texts, and the last one of each host thread.
#include "api_support.hpp"

namespace {
thread_local cudaError_t last_error = cudaSuccess;
}

namespace gmpi::cpu {

cudaError_t result(cudaError_t error) {
  if (error != cudaSuccess)
    last_error = error;
  return error;
}

cudaError_t may_call(const char *function) {
  if (in_kernel())
    fail("%s is called in a kernel", function);
  return Streams::in_host_function() ? cudaErrorNotPermitted : cudaSuccess;
}

bool is_stream(cudaStream_t handle, cudaStream_t &stream) {
  stream = Streams::get().resolve(handle);
  return stream != nullptr;
}

} // namespace gmpi::cpu

const char *cudaGetErrorName(cudaError_t error) {
  switch (error) {
#define GMPI_CPU_ERROR(name, value, text)                                                          \
  case name:                                                                                       \
    return #name;
#include "gmpi/cpu/errors.def"
#undef GMPI_CPU_ERROR
  }
  return "unrecognized error code";
}

const char *cudaGetErrorString(cudaError_t error) {
  switch (error) {
#define GMPI_CPU_ERROR(name, value, text)                                                          \
  case name:                                                                                       \
    return text;
#include "gmpi/cpu/errors.def"
#undef GMPI_CPU_ERROR
  }
  return "unrecognized error code";
}

cudaError_t cudaGetLastError() {
  const cudaError_t error = last_error;
  last_error = cudaSuccess;
  return error;
}

cudaError_t cudaPeekAtLastError() { return last_error; }
