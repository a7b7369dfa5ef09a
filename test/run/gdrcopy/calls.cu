// GMPI_GDRCOPY=1: the host writes Replies into device memory, by way of a mapping. Calls of all scopes, with data
// in a Reply, beside it, inline and staged; and it is used for nothing where nobody asks for it.
// UNSUPPORTED: gpu
// RUN: rm -rf %t.lib && mkdir %t.lib
// RUN: %gmpicxx -shared -fPIC %S/Inputs/gdrapi.cpp -o %t.lib/libgdrapi.so.2
// RUN: %gmpicxx %all-lowerings %s -o %t -Wl,--disable-new-dtags,-rpath,%t.lib
// RUN: env GMPI_GDRCOPY=1 GMPI_LOWER=queue %ranks 1-3 %t
// RUN: env GMPI_GDRCOPY=1 GMPI_LOWER=split %ranks 2 %t
// RUN: env GMPI_GDRCOPY=1 GMPI_PEER=1 GMPI_LOWER=queue %ranks 2 %t
// RUN: env GMPI_GDRCOPY=1 GMPI_GPU_AWARE=1 GMPI_LOWER=queue %ranks 2 %t
// RUN: env GMPI_GDRCOPY=1 GMPI_STATS=1 GMPI_LOWER=queue %mpiexec -n 2 %t 2>&1 | FileCheck %s --check-prefix=USED --implicit-check-not=WRONG
// RUN: env GMPI_GDRCOPY=1 GMPI_LOWER=queue %mpiexec -n 1 %t 2>&1 | FileCheck %s --check-prefix=QUIET --implicit-check-not=gmpi: --implicit-check-not=WRONG
// RUN: env GMPI_GDRCOPY=0 GMPI_STATS=1 GMPI_LOWER=queue %mpiexec -n 2 %t 2>&1 | FileCheck %s --check-prefix=OFF --implicit-check-not=gdrapi:
// RUN: env GMPI_STATS=1 GMPI_LOWER=queue %mpiexec -n 2 %t 2>&1 | FileCheck %s --check-prefix=OFF --implicit-check-not=gdrapi:
// RUN: env GMPI_GDRCOPY=yes not %mpiexec -n 1 %t 2>&1 | FileCheck %s --check-prefix=VALUE
//
// USED-DAG: {{^}}gmpi: rank 0: completions lie in the GPU's memory, which the host writes by way of GDRCopy{{$}}
// USED-DAG: {{^}}gmpi: rank 1: completions lie in the GPU's memory, which the host writes by way of GDRCopy{{$}}
// USED-DAG: {{^}}ok
// USED-DAG: {{^}}gdrapi: words were written through the mapping
// USED-DAG: {{^}}gdrapi: words were written through the mapping
//
// QUIET-DAG: {{^}}ok
// QUIET-DAG: {{^}}gdrapi: words were written through the mapping
//
// OFF-DAG: {{^}}gmpi: rank 0: completions lie in the host's memory{{$}}
// OFF-DAG: {{^}}gmpi: rank 1: completions lie in the host's memory{{$}}
// OFF-DAG: {{^}}ok
//
// VALUE: GMPI_GDRCOPY is 'yes', which is no number from 0 to 1; correct it or unset it
#include "../Inputs/check.h"

__device__ int element(int rank, int n, int i) { return 1000 * rank + 7 * n + i % 997; }

__global__ void by_grid(int *data, int n, int rank, int next, int previous, int *wrong) {
  const int first = blockIdx.x * blockDim.x + threadIdx.x, step = gridDim.x * blockDim.x;
  for (int i = first; i < n; i += step)
    data[i] = element(rank, n, i);
  MPI_Status status;
  MPI_Sendrecv(data, n, MPI_INT, next, 0, data + n, n, MPI_INT, previous, 0, MPI_COMM_WORLD, &status);
  int count;
  MPI_Get_count(&status, MPI_INT, &count);
  if (count != n || status.MPI_SOURCE != previous || status.MPI_TAG != 0)
    *wrong = 1;
  for (int i = first; i < n; i += step)
    if (data[n + i] != element(previous, n, i))
      *wrong = 2;
  MPI_Request requests[2];
  MPI_Irecv(data + n, n, MPI_INT, previous, 1, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(data, n, MPI_INT, next, 1, MPI_COMM_WORLD, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  for (int i = first; i < n; i += step)
    if (data[n + i] != element(previous, n, i))
      *wrong = 3;
  double sum = rank;
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  int size;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (sum != size * (size - 1) / 2)
    *wrong = 4;
}

/// More turns of one slot than a byte counts, and data of changing length behind its Replies.
__global__ void by_block(int *data, int n, int rank, int next, int previous, int *wrong) {
  int *out = data + 2 * blockIdx.x * n, *in = out + n;
  for (int turn = 0; turn < 300; ++turn) {
    const int length = 1 + (turn * 13 + blockIdx.x) % n;
    for (int i = threadIdx.x; i < length; i += blockDim.x)
      out[i] = element(rank, turn, i);
    MPI_Sendrecv(out, length, MPI_INT, next, blockIdx.x, in, length, MPI_INT, previous, blockIdx.x, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    for (int i = threadIdx.x; i < length; i += blockDim.x)
      if (in[i] != element(previous, turn, i))
        *wrong = 5;
  }
}

__global__ void by_thread(int rank, int next, int previous, int *wrong) {
  const int me = blockIdx.x * blockDim.x + threadIdx.x;
  int out[20], in[20];
  for (int n = 1; n <= 20; n += 9) {
    for (int i = 0; i < n; ++i)
      out[i] = element(rank, me, i);
    MPI_Sendrecv(out, n, MPI_INT, next, me, in, n, MPI_INT, previous, me, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < n; ++i)
      if (in[i] != element(previous, me, i))
        *wrong = 6;
  }
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  const int most = 100000;
  test::Array<int> data(2 * most), wrong(1);
  for (int n : {1, 2, 3, 84, 85, 1000, 16384, 16385, most}) {
    by_grid<<<3, 64>>>(data.data(), n, test::rank, test::next(), test::previous(), wrong.data());
    test::synchronize();
  }
  by_block<<<3, 40>>>(data.data(), 100, test::rank, test::next(), test::previous(), wrong.data());
  by_thread<<<2, 20>>>(test::rank, test::next(), test::previous(), wrong.data());
  test::synchronize();
  test::expect_each(wrong, [](int) { return 0; }, "wrong");
  return test::end();
}
