// Messages of words that tell whose they are, and in which turn; behind what is received, some that
// stay as they are. All threads of a grid fill, clear and check.
#pragma once

#include "check.h"

namespace test {

constexpr int guard = 64; ///< words behind what is received

__device__ inline int word_of(int turn, int sender, int i) { return 1000003 * turn + 77 * sender + i; }

__device__ inline void fill(int *data, int words, int turn, int sender) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < words; i += gridDim.x * blockDim.x)
    data[i] = word_of(turn, sender, i);
}
__device__ inline void clear(int *data, int words) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < words + guard; i += gridDim.x * blockDim.x)
    data[i] = -1;
}
/// Counts what is wrong.
__device__ inline void check(const int *data, int words, int turn, int sender, int *wrong) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < words + guard; i += gridDim.x * blockDim.x)
    if (data[i] != (i < words ? word_of(turn, sender, i) : -1))
      atomicAdd(wrong, 1);
}
__device__ inline void check_status(const MPI_Status &status, int words, int source, int tag, int *wrong) {
  int count;
  MPI_Get_count(&status, MPI_INT, &count);
  if (count != words || status.MPI_SOURCE != source || status.MPI_TAG != tag)
    atomicAdd(wrong, 1);
}

} // namespace test
