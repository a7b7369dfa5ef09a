// The functions in which CUDA makes the host wait, as the linker's --wrap option has programs call
// them: a HostWait around the real ones. Programs linked without that option call CUDA's own, and
// this file is not linked in; the watchdog then knows less and only reports.
//
// The symbols are listed once more in runtime/CMakeLists.txt, where the linker's options are made.
#include "host_wait.hpp"

#ifdef GMPI_DEVICE_CPU // its CUDA functions are C++ functions
#define GMPI_DEVICE_SYNCHRONIZE "_Z21cudaDeviceSynchronizev"
#define GMPI_STREAM_SYNCHRONIZE "_Z21cudaStreamSynchronizeP11CUstream_st"
#define GMPI_MEMCPY "_Z10cudaMemcpyPvPKvm14cudaMemcpyKind"
#else
#define GMPI_DEVICE_SYNCHRONIZE "cudaDeviceSynchronize"
#define GMPI_STREAM_SYNCHRONIZE "cudaStreamSynchronize"
#define GMPI_MEMCPY "cudaMemcpy"
#endif

namespace gmpi {

cudaError_t real_device_synchronize() asm("__real_" GMPI_DEVICE_SYNCHRONIZE);
cudaError_t real_stream_synchronize(cudaStream_t stream) asm("__real_" GMPI_STREAM_SYNCHRONIZE);
cudaError_t real_memcpy(void *to, const void *from, size_t bytes,
                        cudaMemcpyKind kind) asm("__real_" GMPI_MEMCPY);

cudaError_t device_synchronize() asm("__wrap_" GMPI_DEVICE_SYNCHRONIZE);
cudaError_t stream_synchronize(cudaStream_t stream) asm("__wrap_" GMPI_STREAM_SYNCHRONIZE);
cudaError_t copy(void *to, const void *from, size_t bytes,
                 cudaMemcpyKind kind) asm("__wrap_" GMPI_MEMCPY);

cudaError_t device_synchronize() {
  HostWait wait;
  return real_device_synchronize();
}

cudaError_t stream_synchronize(cudaStream_t stream) {
  HostWait wait(stream);
  return real_stream_synchronize(stream);
}

/// It waits for what the default stream was given before.
cudaError_t copy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind) {
  HostWait wait(nullptr);
  return real_memcpy(to, from, bytes, kind);
}

} // namespace gmpi
