// Pointers that are swapped in each step are saved, `__restrict__` or not.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: %gmpi-translate --lower=split --cuda-path=none in.cu -o out.cu
// RUN: FileCheck --input-file=out.cu check
// RUN: %compile-cuda out.cu
// RUN: %gmpi-translate --lower=split --device=cpu in.cu -o cpu.cu
// RUN: %compile-cpu cpu.cu

//--- in.cu
#include <mpi.h>
__global__ void swap(double *__restrict__ u, double *v, int steps) {
  for (int s = 0; s < steps; ++s) {
    v[threadIdx.x] = u[threadIdx.x];
    MPI_Bcast(v, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    double *t = u;
    u = v;
    v = t;
  }
}
int main() { swap<<<1, 32>>>(nullptr, nullptr, 3); }
//--- check
CHECK: template <int gmpi_resume> __global__ void swap__segment(::gmpi::Segment gmpi_segment, double *__restrict__ u, double *v, int steps) { {{.*}} if (gmpi_re) gmpi_frame.restore{{(_uniform)?}}<{{[0-9]+}}, 8>(u); if (gmpi_re) gmpi_frame.restore{{(_uniform)?}}<{{[0-9]+}}, 8>(v);
CHECK-NEXT: int s = gmpi_re ? gmpi_frame.saved{{(_uniform)?}}<decltype(s), {{[0-9]+}}, 4>() : (0); for (; gmpi_re || (s < steps); ++s) {
CHECK-NEXT: if (!gmpi_re) { v[threadIdx.x] = u[threadIdx.x]; }
CHECK-NEXT: if (::gmpi::split::MPI_Bcast<1>(gmpi_frame, gmpi_re, {{.*}} 5}, v, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD)) { gmpi_frame.save{{(_uniform)?}}<{{[0-9]+}}, 8>(u); gmpi_frame.save{{(_uniform)?}}<{{[0-9]+}}, 8>(v); gmpi_frame.save{{(_uniform)?}}<{{[0-9]+}}, 4>(s); return;
