// Memory that only kernels reach stays staged where MPI is given device memory: a thread's own, and
// __shared__; one end of a call, or both; and calls of single blocks and threads beside it.
// UNSUPPORTED: gpu && !gpu-aware
// RUN: %gmpicxx %s -o %t
// RUN: env GMPI_GPU_AWARE=1 GMPI_CPU_STACK_KB=1024 %ranks 1-3 %t
// RUN: env GMPI_GPU_AWARE=1 GMPI_CPU_STACK_KB=1024 GMPI_STATS=1 %mpiexec -n 2 %t 2>&1 | FileCheck %s
//
// Each rank: from shared to global, from global to shared, both shared, both global; from local to global, from
// global to local, both global; a request each way; two reductions.
// CHECK-DAG: gmpi: rank 0: staged: 7 calls
// CHECK-DAG: gmpi: rank 0: gpu-aware: 4 calls
// CHECK-DAG: gmpi: rank 0: device pointers are not given to MPI in queue: 5 calls: a thread's own or __shared__ memory
// CHECK-DAG: gmpi: rank 0: device pointers are not given to MPI in queue: 2 calls: reductions
// CHECK-DAG: {{^}}ok
#include "../Inputs/check.h"

constexpr int n = 16400; // 65600 bytes

__device__ void exchange(int *out, int *in, int rank, int next, int previous, int tag, int step, int lane) {
  for (int i = lane; i < n; i += step) {
    out[i] = 1000 * rank + i + tag;
    in[i] = -1;
  }
  MPI_Sendrecv(out, n, MPI_INT, next, tag, in, n, MPI_INT, previous, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
__device__ bool is_right(const int *in, int previous, int tag) {
  for (int i = 0; i < n; ++i)
    if (in[i] != 1000 * previous + i + tag)
      return false;
  return true;
}

__global__ void of_block(int *global, int *wrong, int rank, int next, int previous) {
  extern __shared__ int shared[];
  int *ends[4][2] = {{shared, global}, {global, shared}, {shared, shared + n}, {global, global + n}};
  for (int tag = 0; tag < 4; ++tag) {
    exchange(ends[tag][0], ends[tag][1], rank, next, previous, tag, blockDim.x, threadIdx.x);
    if (threadIdx.x == 0 && !is_right(ends[tag][1], previous, tag))
      wrong[tag] = 1;
    __syncthreads();
  }
  MPI_Allreduce(global, global + n, n, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
}

__global__ void of_thread(int *global, int *wrong, int rank, int next, int previous) {
  int own[n];
  int *ends[3][2] = {{own, global}, {global, own}, {global, global + n}};
  for (int tag = 0; tag < 3; ++tag) {
    exchange(ends[tag][0], ends[tag][1], rank, next, previous, tag, 1, 0);
    if (!is_right(ends[tag][1], previous, tag))
      wrong[4 + tag] = 1;
  }
  MPI_Request requests[2];
  MPI_Irecv(global + n, n, MPI_INT, previous, 9, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(global, n, MPI_INT, next, 9, MPI_COMM_WORLD, &requests[1]);
  MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  if (!is_right(global + n, previous, 2))
    wrong[7] = 1;
  MPI_Allreduce(global, global + n, n, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  test::Array<int> global(2 * n), wrong(8);
  const int shared_bytes = 2 * n * sizeof(int);
  CUDA_CHECK(cudaFuncSetAttribute(of_block, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes));
  of_block<<<1, 32, shared_bytes>>>(global.data(), wrong.data(), test::rank, test::next(), test::previous());
  test::synchronize();
  of_thread<<<1, 1>>>(global.data(), wrong.data(), test::rank, test::next(), test::previous());
  test::synchronize();
  test::expect_each(wrong, [](int) { return 0; }, "wrong");
  return test::end();
}
