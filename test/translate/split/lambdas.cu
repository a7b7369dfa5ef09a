// A lambda is a value like others; what it has captured is not read again.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: %gmpi-translate --lower=split --cuda-path=none in.cu -o out.cu
// RUN: FileCheck --input-file=out.cu check
// RUN: %compile-cuda out.cu
// RUN: %gmpi-translate --lower=split --device=cpu in.cu -o cpu.cu
// RUN: %compile-cpu cpu.cu

//--- in.cu
#include <mpi.h>
__global__ void scale(int *buf, int n) {
  int factor = buf[0];
  auto scaled = [factor](int i) { return i * factor; };
  MPI_Barrier(MPI_COMM_WORLD);
  buf[threadIdx.x] = scaled(n);
}
int main() { scale<<<1, 32>>>(nullptr, 3); }
//--- check
CHECK: template <int gmpi_resume> __global__ void scale__segment(::gmpi::Segment gmpi_segment, int *buf, int n) { {{.*}}
CHECK-NEXT: int factor = gmpi_re ? ::gmpi::split::nothing<decltype(factor)>() : (buf[0]);
CHECK-NEXT: auto scaled = gmpi_re ? gmpi_frame.saved{{(_uniform)?}}_auto<{{[0-9]+}}, 4>() : ([factor](int i) { return i * factor; });
CHECK-NEXT: if (::gmpi::split::MPI_Barrier<1>(gmpi_frame, gmpi_re, {{.*}} 5}, MPI_COMM_WORLD)) { gmpi_frame.save{{(_uniform)?}}<{{[0-9]+}}, 4>(scaled); return;
