// Whether the host program can still act. A rank whose kernels wait for a message is stuck for good
// only if its host program cannot send that message or launch another kernel; so the functions in
// which CUDA makes the host wait are wrapped (host_wait_wrapped.cpp), and say so here.
//
// Invariant: only the thread that called MPI_Init is recorded. Where other threads may make MPI
// calls, or have launched kernels with MPI, it does not speak for the program.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace gmpi {

/// What the main thread waits for.
struct HostWaitState {
  std::uint64_t number = 0;  ///< which wait this is; 0: none
  bool whole_device = false; ///< else one stream
  int device = 0;
  cudaStream_t stream = nullptr;
  bool speaks_for_program = false; ///< no other thread of the program makes MPI calls
};

/// Covers a wait of the calling thread for the current device, or for one of its streams.
class HostWait {
public:
  HostWait();
  explicit HostWait(cudaStream_t stream);
  ~HostWait();
  HostWait(const HostWait &) = delete;

private:
  bool recorded_;
};

/// The calling thread initialises MPI; the program asked for `thread_level`.
void note_main_thread(int thread_level);
/// The calling thread launches a kernel with MPI.
void note_launching_thread();
/// Any thread.
HostWaitState host_wait_state();
/// One name for the legacy default stream.
cudaStream_t canonical(cudaStream_t stream);

} // namespace gmpi
