// Where loops and conditions with such calls end and no other call is sure to come at once, what has
// been left is made: once, as late as can be.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: %gmpi-translate --cuda-path=none in.cu -o out.cu
// RUN: FileCheck --input-file=out.cu check
// RUN: %compile-cuda out.cu
// RUN: %gmpi-translate --device=cpu in.cu -o cpu.cu
// RUN: FileCheck --input-file=cpu.cu check
// RUN: %compile-cpu cpu.cu

//--- in.cu
#include <mpi.h>
__device__ void inner(int *b) { b[threadIdx.x] += 1; }
__global__ void loops(int *b, int n) {
  MPI_Request r[12];
  for (int i = 0; i < n; ++i)
    MPI_Irecv(b + i, 1, MPI_INT, i, 10, MPI_COMM_WORLD, r + i);
  for (int i = 0; i < n; ++i)
    MPI_Isend(b + n, 1, MPI_INT, i, 11, MPI_COMM_WORLD, r + n + i) /* before */;
#pragma unroll
  for (int i = 0; i < 4; ++i)
    inner(b);
  MPI_Waitall(2 * n, r, MPI_STATUSES_IGNORE);
}
__global__ void conditions(int *b, int above, int below) {
  MPI_Request r[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  for (int step = 0; step < 9; ++step) {
    if (above >= 0)
      MPI_Irecv(b, 1, MPI_INT, above, 20, MPI_COMM_WORLD, r);
    if (below >= 0) {
      MPI_Isend(b + 1, 1, MPI_INT, below, 21, MPI_COMM_WORLD, r + 1);
    }
    inner(b);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
  }
}
__global__ void nested(int *b, int n) {
  MPI_Request r[12];
  for (int i = 0; i < n; ++i) {
    int j = 0;
    do {
      MPI_Isend(b, 1, MPI_INT, j, 30, MPI_COMM_WORLD, r + j);
    } while (++j < n);
    while (j > 0)
      if (--j == i)
        break;
  }
  inner(b);
  for (int i = 0; i < n; ++i) {
    MPI_Isend(b, 1, MPI_INT, i, 31, MPI_COMM_WORLD, r + i);
    inner(b);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}
__global__ void nowhere(int *b, int n) {
  MPI_Request r;
  if (n > 1)
    MPI_Isend(b, 1, MPI_INT, 1, 41, MPI_COMM_WORLD, &r);
again:
  inner(b);
  if (n-- > 1)
    goto again;
}
__global__ void last(int *b, int n) {
  MPI_Request r;
  switch (n) {
  case 1:
    if (b)
      MPI_Isend(b, 1, MPI_INT, 1, 50, MPI_COMM_WORLD, &r);
  case 2:
    inner(b);
  }
  inner(b);
  if (n > 1)
    MPI_Isend(b, 1, MPI_INT, 1, 51, MPI_COMM_WORLD, &r);
}
__global__ void ends_of_turns(int *b, int n) {
  MPI_Request r[6];
  for (int step = 0; step < n; ++step) {
    inner(b);
    for (int i = 0; i < n; ++i)
      MPI_Isend(b, 1, MPI_INT, i, 54, MPI_COMM_WORLD, r + i);
    for (int i = 0; i < n; ++i)
      MPI_Wait(r + i, MPI_STATUS_IGNORE);
  }
  for (int step = 0; step < n; ++step) {
    if (step == 1)
      continue;
    inner(b);
    for (int i = 0; i < n; ++i)
      MPI_Isend(b, 1, MPI_INT, i, 55, MPI_COMM_WORLD, r + i);
  }
  while (n-- > 0) {
    inner(b);
    for (int i = 0; i < n; ++i)
      MPI_Isend(b, 1, MPI_INT, i, 56, MPI_COMM_WORLD, r + i);
  }
}
__global__ void without_braces(int *b, int n) {
  MPI_Request r;
  switch (n)
  case 1:
    MPI_Isend(b, 1, MPI_INT, 1, 57, MPI_COMM_WORLD, &r);
  inner(b);
}
template <int count> __global__ void unrolled(int *b) {
  MPI_Request r[count];
  for (int i = 0; i < count; ++i)
    MPI_Isend(b, 1, MPI_INT, i, 60, MPI_COMM_WORLD, r + i);
  inner(b);
  MPI_Waitall(count, r, MPI_STATUSES_IGNORE);
}
void launch(int *b) {
  unrolled<1><<<2, 32>>>(b);
  unrolled<3><<<2, 32>>>(b);
}
//--- check
CHECK: ::gmpi::grid::followed::MPI_Irecv({{[{].*}} i, 10,
CHECK-NOT: make_left
CHECK: ::gmpi::grid::followed::MPI_Isend({{[{].*}} i, 11, {{.*}} /* before */; ::gmpi::grid::make_left({{[{].*}}});
CHECK-NEXT: #pragma unroll
CHECK: ::gmpi::grid::MPI_Waitall(
CHECK: ::gmpi::grid::followed::MPI_Irecv({{[{].*}} above, 20,
CHECK-NEXT: if (below
CHECK-NEXT: ::gmpi::grid::followed::MPI_Isend({{[{].*}} below, 21,
CHECK-NEXT: } ::gmpi::grid::make_left({{[{].*}}});
CHECK-NEXT: inner(b);
CHECK-NEXT: ::gmpi::grid::MPI_Waitall(
CHECK: ::gmpi::grid::followed::MPI_Isend({{[{].*}} j, 30,
CHECK-NEXT: } while (++j < n); ::gmpi::grid::make_left({{[{].*}}});
CHECK: ::gmpi::grid::MPI_Isend({{[{].*}} i, 31,
CHECK-NOT: make_left
CHECK: ::gmpi::grid::MPI_Isend({{[{].*}} 1, 41,
CHECK: ::gmpi::grid::MPI_Isend({{[{].*}} 1, 50,
CHECK-NOT: make_left
CHECK: ::gmpi::grid::MPI_Isend({{[{].*}} 1, 51,
CHECK-NOT: make_left
CHECK: ::gmpi::grid::followed::MPI_Isend({{[{].*}} i, 54,
CHECK-NOT: make_left
CHECK: ::gmpi::grid::followed::MPI_Wait({{[{].*}} r + i, MPI_STATUS_IGNORE); ::gmpi::grid::make_left({{[{].*}}});
CHECK: ::gmpi::grid::MPI_Isend({{[{].*}} i, 55,
CHECK-NOT: make_left
CHECK: ::gmpi::grid::MPI_Isend({{[{].*}} i, 56,
CHECK-NOT: make_left
CHECK: ::gmpi::grid::followed::MPI_Isend({{[{].*}} 1, 57, MPI_COMM_WORLD, &r); ::gmpi::grid::make_left({{[{].*}}});
CHECK-NEXT: inner(b);
CHECK: ::gmpi::grid::followed::MPI_Isend({{[{].*}} i, 60,{{.*}}; ::gmpi::grid::make_left({{[{].*}}});
CHECK-NEXT: inner(b);
