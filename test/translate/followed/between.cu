// What may stand between a call and the next: what ends soon, whatever other threads do. Functions are
// looked into.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: %gmpi-translate --cuda-path=none in.cu -o out.cu
// RUN: FileCheck --input-file=out.cu check
// RUN: %compile-cuda out.cu

//--- in.cu
#include <mpi.h>
struct Plain {
  int a, b[3];
};
struct Point {
  int x = 0, y = 0;
  __device__ constexpr Point(int x, int y) : x(x), y(y) {}
};
__device__ constexpr int twice(int d) { return d + d; }
__device__ constexpr int tag(int d) { return d < 0 ? 0 : twice(d) + Point(d, 1).x; }
__device__ constexpr int counted(int d) {
  int n = 0;
  for (int i = 0; i < d; ++i)
    n += i;
  return n;
}
__device__ constexpr int recursive(int d) { return d ? recursive(d - 1) : 0; }
__device__ int other(int d) { return d; }
template <class T> __device__ T twofold(T d) { return other(d) + d; }
__device__ void unseen();
__device__ int fenced(int d) {
  if (d == 7)
    __threadfence();
  return d;
}
struct Guard {
  __device__ ~Guard() { __threadfence(); }
};
struct Made {
  int n, m;
  __device__ Made(int n) : n(n) { m = n; }
};
struct MadeLate {
  __device__ MadeLate(int) { __syncthreads(); }
};
__device__ int *volatile seen;

__global__ void passes(int *b, int n) {
  MPI_Request r;
  MPI_Irecv(b, 1, MPI_INT, 1, 10, MPI_COMM_WORLD, &r);
  unsigned i = threadIdx.x + blockIdx.x * blockDim.x;
  MPI_Isend(b + n, 1, MPI_INT, 1, 11, MPI_COMM_WORLD, &r);
  Plain list{1, {2, 3, 4}}, copy = list;
  copy = list;
  copy.b[2] = list.b[1];
  MPI_Isend(b, tag(n), MPI_INT, twice(n), 12, MPI_COMM_WORLD, &r);
  Point p(1, n);
  int sum = static_cast<int>(p.y + 0.5) + (n > 2 ? 1 : 0) + int(sizeof(Plain)) + tag(1) + int(i);
  static_assert(sizeof(int) == 4, "");
  Made made(other(sum) + twofold(sum));
  if (__builtin_expect(sum == 0, 0))
    ++sum;
  MPI_Wait(&r, MPI_STATUS_IGNORE);
}

__global__ void stops(int *b, double x) {
  MPI_Request r;
  MPI_Irecv(b, 1, MPI_INT, 1, 20, MPI_COMM_WORLD, &r);
  __syncthreads();
  MPI_Irecv(b, 1, MPI_INT, 1, 21, MPI_COMM_WORLD, &r);
  __syncwarp();
  MPI_Irecv(b, 1, MPI_INT, 1, 22, MPI_COMM_WORLD, &r);
  volatile int own = 1;
  int sum = own;
  MPI_Irecv(b, 1, MPI_INT, 1, 23, MPI_COMM_WORLD, &r);
  sum += seen == nullptr;
  MPI_Irecv(b, 1, MPI_INT, 1, 24, MPI_COMM_WORLD, &r);
  atomicAdd(b + 1, 1);
  MPI_Irecv(b, 1, MPI_INT, 1, 25, MPI_COMM_WORLD, &r);
  asm("// nothing");
  MPI_Irecv(b, 1, MPI_INT, 1, 26, MPI_COMM_WORLD, &r);
  fenced(1);
  MPI_Irecv(b, 1, MPI_INT, 1, 27, MPI_COMM_WORLD, &r);
  MPI_Irecv(b, 1, MPI_INT, fenced(1), 28, MPI_COMM_WORLD, &r);
  sum += counted(9);
  MPI_Irecv(b, 1, MPI_INT, 1, 29, MPI_COMM_WORLD, &r);
  sum += recursive(9);
  MPI_Irecv(b, 1, MPI_INT, 1, 30, MPI_COMM_WORLD, &r);
  [] { __syncthreads(); }();
  {
    Guard guard;
    MPI_Irecv(b, 1, MPI_INT, 1, 31, MPI_COMM_WORLD, &r);
  }
  MPI_Irecv(b, 1, MPI_INT, 1, 32, MPI_COMM_WORLD, &r);
  Guard();
  MPI_Irecv(b, 1, MPI_INT, 1, 33, MPI_COMM_WORLD, &r);
  MadeLate late(1);
  MPI_Irecv(b, 1, MPI_INT, 1, 34, MPI_COMM_WORLD, &r);
  delete new int;
  MPI_Irecv(b, 1, MPI_INT, 1, 35, MPI_COMM_WORLD, &r);
  x = sqrt(x);
  MPI_Irecv(b, 1, MPI_INT, 1, 36, MPI_COMM_WORLD, &r);
  unseen();
  MPI_Wait(&r, MPI_STATUS_IGNORE);
}
//--- check
CHECK: ::gmpi::grid::followed::MPI_Irecv({{[{].*}} 1, 10,
CHECK: ::gmpi::grid::followed::MPI_Isend({{[{].*}} 1, 11,
CHECK: ::gmpi::grid::followed::MPI_Isend({{[{].*}} twice(n), 12,
CHECK: __global__ {{.*}}stops__queue
CHECK-NOT: followed
CHECK: ::gmpi::grid::MPI_Irecv({{[{].*}} 1, 20,
CHECK: ::gmpi::grid::MPI_Irecv({{[{].*}} 1, 21,
CHECK: ::gmpi::grid::MPI_Irecv({{[{].*}} 1, 22,
CHECK: ::gmpi::grid::MPI_Irecv({{[{].*}} 1, 23,
CHECK: ::gmpi::grid::MPI_Irecv({{[{].*}} 1, 24,
CHECK: ::gmpi::grid::MPI_Irecv({{[{].*}} 1, 25,
CHECK: ::gmpi::grid::MPI_Irecv({{[{].*}} 1, 26,
CHECK: ::gmpi::grid::MPI_Irecv({{[{].*}} 1, 27,
CHECK: ::gmpi::grid::MPI_Irecv({{[{].*}} fenced(1), 28,
CHECK: ::gmpi::grid::MPI_Irecv({{[{].*}} 1, 29,
CHECK: ::gmpi::grid::MPI_Irecv({{[{].*}} 1, 30,
CHECK: ::gmpi::grid::MPI_Irecv({{[{].*}} 1, 31,
CHECK: ::gmpi::grid::MPI_Irecv({{[{].*}} 1, 32,
CHECK: ::gmpi::grid::MPI_Irecv({{[{].*}} 1, 33,
CHECK: ::gmpi::grid::MPI_Irecv({{[{].*}} 1, 34,
CHECK: ::gmpi::grid::MPI_Irecv({{[{].*}} 1, 35,
CHECK: ::gmpi::grid::MPI_Irecv({{[{].*}} 1, 36,
