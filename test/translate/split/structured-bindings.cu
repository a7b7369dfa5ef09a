// The object behind the names is kept, or the reference to it.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: %gmpi-translate --lower=split --cuda-path=none in.cu -o out.cu
// RUN: FileCheck --input-file=out.cu check
// RUN: %compile-cuda out.cu
// RUN: %gmpi-translate --lower=split --device=cpu in.cu -o cpu.cu
// RUN: %compile-cpu cpu.cu

//--- in.cu
#include <mpi.h>
struct Pair { int first, second; };
__device__ Pair make(int n) { return {n, 2 * n}; }
__global__ void bind(Pair *buf) {
  auto [a, b] = make(buf[0].first);
  auto &[c, d] = buf[1];
  MPI_Barrier(MPI_COMM_WORLD);
  c = a;
  d = b;
}
int main() { bind<<<1, 32>>>(nullptr); }
//--- check
CHECK: template <int gmpi_resume> __global__ void bind__segment(::gmpi::Segment gmpi_segment, Pair *buf) { {{.*}}
CHECK-NEXT: auto [[BOUND_5_3:gmpi_bound_[0-9_]+]] = gmpi_re ? gmpi_frame.saved{{(_uniform)?}}_auto<{{[0-9]+}}, 8>() : (make(buf[0].first)); auto &[a, b] = [[BOUND_5_3]];
CHECK-NEXT: auto &[[BOUND_6_3:gmpi_bound_[0-9_]+]] = gmpi_re ? gmpi_frame.saved_reference<decltype((buf[1])), {{[0-9]+}}, 8>() : (buf[1]); auto &[c, d] = [[BOUND_6_3]];
CHECK-NEXT: if (::gmpi::split::MPI_Barrier<1>(gmpi_frame, gmpi_re, {{.*}} 7}, MPI_COMM_WORLD)) { gmpi_frame.save{{(_uniform)?}}<{{[0-9]+}}, 8>([[BOUND_5_3]]); gmpi_frame.save_reference<{{[0-9]+}}, 8>([[BOUND_6_3]]); return;
