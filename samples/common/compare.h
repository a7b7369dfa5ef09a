// What the samples share that compare lowerings (--compare): choosing one between two launches, and
// the limit of one of them, measured in the same run.
//
// Under `queue` a kernel runs on through its MPI calls. Under `split` it is cut at each, so a call
// costs at least one launch and one synchronisation beside what MPI takes.
#pragma once

#include "sample.h"

namespace compare {

__global__ void nothing() {}

/// Microseconds that a launch and cudaStreamSynchronize take: the mean of `rounds`. Every rank
/// calls it, as all of them wait for segments at a time.
inline double launch_and_synchronise(int rounds = 200) {
  cudaStream_t stream;
  CUDA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  double start = 0;
  for (int i = -rounds / 10; i < rounds; ++i) {
    if (i == 0) {
      MPI_Barrier(MPI_COMM_WORLD);
      start = MPI_Wtime();
    }
    nothing<<<1, 32, 0, stream>>>();
    CUDA_CHECK(cudaStreamSynchronize(stream));
  }
  double seconds = MPI_Wtime() - start;
  CUDA_CHECK(cudaStreamDestroy(stream));
  return 1e6 * seconds / rounds;
}

} // namespace compare
