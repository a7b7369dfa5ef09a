// A slot is as large as the type, rounded up to a power of two, from 16 bytes on to a multiple of 16.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: %gmpi-translate --lower=split --cuda-path=none in.cu -o out.cu
// RUN: FileCheck --input-file=out.cu check
// RUN: %compile-cuda out.cu
// RUN: %gmpi-translate --lower=split --device=cpu in.cu -o cpu.cu
// RUN: %compile-cpu cpu.cu

//--- in.cu
#include <mpi.h>
struct Big { double values[5]; };
__global__ void wide(double4 *v, Big *b) {
  double4 mine = v[threadIdx.x];
  Big big = b[threadIdx.x];
  char small = char(mine.x);
  MPI_Barrier(MPI_COMM_WORLD);
  v[threadIdx.x] = mine;
  b[threadIdx.x] = big;
  b[0].values[0] = small;
}
int main() { wide<<<1, 32>>>(nullptr, nullptr); }
//--- check
CHECK: template <int gmpi_resume> __global__ void wide__segment(::gmpi::Segment gmpi_segment, double4 *v, Big *b) { {{.*}}
CHECK-NEXT: double4 mine = gmpi_re ? gmpi_frame.saved{{(_uniform)?}}<decltype(mine), {{[0-9]+}}, 32>() : (v[threadIdx.x]);
CHECK-NEXT: Big big = gmpi_re ? gmpi_frame.saved{{(_uniform)?}}<decltype(big), {{[0-9]+}}, 48>() : (b[threadIdx.x]);
CHECK-NEXT: char small = gmpi_re ? gmpi_frame.saved{{(_uniform)?}}<decltype(small), {{[0-9]+}}, 1>() : (char(mine.x));
CHECK-NEXT: if (::gmpi::split::MPI_Barrier<1>(gmpi_frame, gmpi_re, {{.*}} 7}, MPI_COMM_WORLD)) { gmpi_frame.save{{(_uniform)?}}<{{[0-9]+}}, 32>(mine); gmpi_frame.save{{(_uniform)?}}<{{[0-9]+}}, 48>(big); gmpi_frame.save{{(_uniform)?}}<{{[0-9]+}}, 1>(small); return;
