// GMPI_STATS=1 tells what MPI has moved between device memory itself, and why it was not given it. The
// program says that its MPI library takes device pointers, where it is told to.
// UNSUPPORTED: gpu
// RUN: %gmpicxx %all-lowerings %s -o %t
// RUN: %gmpicxx %all-lowerings -DSAYS_SO %s -o %t.says
// RUN: env GMPI_STATS=1 GMPI_LOWER=queue GMPI_GPU_AWARE=auto %mpiexec -n 2 %t 2>&1 | FileCheck %s --check-prefixes=STAGED,NOT-AWARE -DHOW=queue
// RUN: env GMPI_STATS=1 GMPI_LOWER=split %mpiexec -n 2 %t 2>&1 | FileCheck %s --check-prefixes=STAGED,NOT-AWARE -DHOW=split
// RUN: env GMPI_STATS=1 GMPI_LOWER=queue %mpiexec -n 2 %t.says 2>&1 | FileCheck %s --check-prefixes=STAGED,OFF -DHOW=queue
// RUN: env GMPI_STATS=1 GMPI_LOWER=queue GMPI_GPU_AWARE=auto %mpiexec -n 2 %t.says 2>&1 | FileCheck %s --check-prefix=TAKEN -DHOW=queue
// RUN: env GMPI_STATS=1 GMPI_LOWER=split GMPI_GPU_AWARE=auto %mpiexec -n 2 %t.says 2>&1 | FileCheck %s --check-prefix=TAKEN -DHOW=split
// RUN: env GMPI_STATS=1 GMPI_LOWER=split GMPI_GPU_AWARE=1 %mpiexec -n 1 %t 2>&1 | FileCheck %s --check-prefix=TAKEN -DHOW=split
// RUN: env GMPI_STATS=1 GMPI_LOWER=queue GMPI_GPU_AWARE=1 GMPI_GPU_AWARE_KB=200 %mpiexec -n 2 %t 2>&1 | FileCheck %s --check-prefixes=STAGED,SHORT -DHOW=queue
//
// A message of 160000 bytes, one of 4, a reduction of 160000.
// STAGED-DAG: {{^}}gmpi: rank 0: inline: 1 calls, 4 bytes sent{{$}}
// STAGED-DAG: {{^}}gmpi: rank 0: staged: 2 calls, 320000 bytes sent{{$}}
// NOT-AWARE-DAG: {{^}}gmpi: rank 0: device pointers are not given to MPI in [[HOW]]: 2 calls: the MPI library does not say that it takes them{{$}}
// OFF-DAG: {{^}}gmpi: rank 0: device pointers are not given to MPI in [[HOW]]: 2 calls: GMPI_GPU_AWARE is neither auto nor 1{{$}}
// SHORT-DAG: {{^}}gmpi: rank 0: device pointers are not given to MPI in [[HOW]]: 1 calls: they are not longer than GMPI_GPU_AWARE_KB says{{$}}
// SHORT-DAG: {{^}}gmpi: rank 0: device pointers are not given to MPI in [[HOW]]: 1 calls: reductions{{$}}
// STAGED-DAG: {{^}}ok
//
// TAKEN-DAG: {{^}}gmpi: rank 0: inline: 1 calls, 4 bytes sent{{$}}
// TAKEN-DAG: {{^}}gmpi: rank 0: staged: 1 calls, 160000 bytes sent{{$}}
// TAKEN-DAG: {{^}}gmpi: rank 0: gpu-aware: 1 calls, 160000 bytes sent{{$}}
// TAKEN-DAG: {{^}}gmpi: rank 0: device pointers are not given to MPI in [[HOW]]: 1 calls: reductions{{$}}
// TAKEN-DAG: {{^}}ok
#include "../Inputs/check.h"

#ifdef SAYS_SO
#include "../Inputs/says_gpu_aware.h"
#endif

__global__ void exchange(int *data, int count, int next, int previous) {
  MPI_Sendrecv(data, 1, MPI_INT, next, 0, data + count, 1, MPI_INT, previous, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  MPI_Sendrecv(data, count, MPI_INT, next, 0, data + count, count, MPI_INT, previous, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  MPI_Allreduce(data, data + count, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  const int count = 40000;
  test::Array<int> data(2 * count, 1);
  exchange<<<2, 32>>>(data.data(), count, test::next(), test::previous());
  test::synchronize();
  test::expect_each(data, [=](int i) { return i < count ? 1 : test::size; }, "data");
  return test::end();
}
