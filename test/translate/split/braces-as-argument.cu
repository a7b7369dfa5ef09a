// A list in braces is no expression: what cannot be evaluated again in it gets a variable, not the list.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: %gmpi-translate --lower=split --cuda-path=none in.cu -o out.cu
// RUN: FileCheck --input-file=out.cu check
// RUN: %compile-cuda out.cu
// RUN: %gmpi-translate --lower=split --device=cpu in.cu -o cpu.cu
// RUN: %compile-cpu cpu.cu

//--- in.cu
#include <mpi.h>
struct Part { int first, count; };
struct Two { Part a, b; };
struct Made {
  int sum;
  __device__ Made(int a, int b, int c = 1) : sum(a + b + c) {}
};
__device__ int next(int *n) { return ++*n; }
__device__ void by_part(int *buf, Part part, Two two) {
  MPI_Barrier(MPI_COMM_WORLD);
  buf[part.first] = two.b.count;
}
__device__ void by_made(int *buf, Made made) {
  MPI_Barrier(MPI_COMM_WORLD);
  buf[0] = made.sum;
}
template <class T> __device__ void by_template(T *buf, Part part) {
  MPI_Barrier(MPI_COMM_WORLD);
  buf[0] = part.first;
}
template <class T> __device__ void in_template(T *buf, int *n) {
  by_template(buf, {next(n), int(sizeof(T))});
}
__device__ void by_reference(int *buf, const Part &part) {
  MPI_Barrier(MPI_COMM_WORLD);
  buf[0] = part.first;
}
__global__ void k(int *buf, int *n, int m) {
  by_part(buf, {next(n), m}, {{m, next(n)}, {.first = next(n)}});
  by_made(buf, {next(n), m});
  in_template(buf, n);
  by_reference(buf, Part{next(n), m});
  by_part(buf, {}, {});
}
int main() { k<<<1, 32>>>(nullptr, nullptr, 3); }
//--- check
CHECK: bool in_template__segment(
CHECK-NEXT: { auto [[T:gmpi_argument[0-9_]+]] = gmpi_re ? ::gmpi::split::Nothing() : (next(n)); {{.*}}, buf, {[[T]], int(sizeof(T))})
CHECK: void k__segment(
CHECK-NEXT: {{.*}}auto [[A:gmpi_argument[0-9_]+]] = gmpi_re ? ::gmpi::split::Nothing() : (next(n)); auto [[B:gmpi_argument[0-9_]+]] = gmpi_re ? ::gmpi::split::Nothing() : (next(n)); auto [[C:gmpi_argument[0-9_]+]] = gmpi_re ? ::gmpi::split::Nothing() : (next(n)); {{.*}}, buf, {[[A]], m}, {{[{][{]}}m, [[B]]}, {.first = [[C]]}})
CHECK-NEXT: {{.*}}auto [[D:gmpi_argument[0-9_]+]] = gmpi_re ? ::gmpi::split::Nothing() : (next(n)); {{.*}}, buf, {[[D]], m})
CHECK-NEXT: {{.*}}in_template__segment
CHECK-NEXT: {{.*}}decltype(Part{next(n), m})
CHECK-NEXT: {{.*}}, buf, {}, {})
