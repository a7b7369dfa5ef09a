// The threads of a call, numbered, so that one function serves kernels of every scope.
#pragma once

namespace test {

struct Threads {
  int rank, size;
};

__device__ inline Threads of_block() { return {int(threadIdx.x), int(blockDim.x)}; }
__device__ inline Threads of_grid() {
  return {int(blockIdx.x * blockDim.x + threadIdx.x), int(gridDim.x * blockDim.x)};
}

} // namespace test
