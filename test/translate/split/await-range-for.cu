// The iterator is kept, and the element.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: %gmpi-translate --lower=split --cuda-path=none in.cu -o out.cu
// RUN: FileCheck --input-file=out.cu check
// RUN: %compile-cuda out.cu
// RUN: %gmpi-translate --lower=split --device=cpu in.cu -o cpu.cu
// RUN: %compile-cpu cpu.cu

//--- in.cu
#include <mpi.h>
__global__ void broadcasts(int *buf, int n) {
  const int roots[] = {0, 1, 0};
  int made = 0;
  for (int root : roots) {
    MPI_Bcast(buf, n, MPI_INT, root, MPI_COMM_WORLD);
    made += root;
  }
  buf[threadIdx.x] = made;
}
int main() { broadcasts<<<1, 32>>>(nullptr, 32); }
//--- check
CHECK: template <int gmpi_resume> __global__ void broadcasts__segment(::gmpi::Segment gmpi_segment, int *buf, int n) { {{.*}}
CHECK-NEXT: typedef const int gmpi_roots_t[3] ; gmpi_roots_t &roots = gmpi_frame.resident<gmpi_roots_t, {{[0-9]+}}, 16>(); if (!gmpi_re) { const int gmpi_init[] = {0, 1, 0}; ::gmpi::split::copy(roots, gmpi_init); }
CHECK-NEXT: int made = gmpi_re ? gmpi_frame.saved{{(_uniform)?}}<decltype(made), {{[0-9]+}}, 4>() : (0);
CHECK-NEXT: for (auto [[AT1:gmpi_at[0-9_]+]] = gmpi_re ? gmpi_frame.saved{{(_uniform)?}}_auto<{{[0-9]+}}, 8>() : ::gmpi::split::begin(roots); gmpi_re || [[AT1]] != ::gmpi::split::end(roots); ++[[AT1]]) { int root = gmpi_re ? gmpi_frame.saved{{.*}} : (*[[AT1]]);
CHECK-NEXT: if (::gmpi::split::MPI_Bcast<1>(gmpi_frame, gmpi_re, {{.*}} 6}, buf, n, MPI_INT, root, MPI_COMM_WORLD)) { gmpi_frame.save{{(_uniform)?}}<{{[0-9]+}}, 4>(made); gmpi_frame.save{{(_uniform)?}}<{{[0-9]+}}, 4>(root); gmpi_frame.save{{(_uniform)?}}<{{[0-9]+}}, 8>([[AT1]]); return;
