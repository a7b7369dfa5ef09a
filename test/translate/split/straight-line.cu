// Statements before a call are skipped where a later segment comes by; what is passed again or computed again
// is not saved. One segment starts, one more for each call.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: %gmpi-translate --lower=split --cuda-path=none in.cu -o out.cu
// RUN: FileCheck --input-file=out.cu check
// RUN: %compile-cuda out.cu
// RUN: %gmpi-translate --lower=split --device=cpu in.cu -o cpu.cu
// RUN: %compile-cpu cpu.cu

//--- in.cu
#include <mpi.h>
__global__ void step(int *buf, int n) { // what it is for
  int twice = 2 * n;
  buf[threadIdx.x] = twice;
  MPI_Bcast(buf, n, MPI_INT, 0, MPI_COMM_WORLD); // first
  buf[threadIdx.x] += twice;
  MPI_Barrier(MPI_COMM_WORLD);
  buf[0] = n;
}
int main() { step<<<1, 32>>>(nullptr, 32); }
//--- check
CHECK: template <int gmpi_resume> __global__ void step__segment(::gmpi::Segment gmpi_segment, int *buf, int n) { {{.*}} // what it is for
CHECK: if (!gmpi_re) { buf[threadIdx.x] = twice; }
CHECK-NEXT: if (!gmpi_re || gmpi_resume == 1) { if (::gmpi::split::MPI_Bcast<1>(gmpi_frame, gmpi_re, {{.*}} 5}, buf, n, MPI_INT, 0, MPI_COMM_WORLD)) { return; } } // first
CHECK-NEXT: if (!gmpi_re) { buf[threadIdx.x] += twice; }
CHECK-NEXT: if (::gmpi::split::MPI_Barrier<2>(gmpi_frame, gmpi_re, {{.*}} 7}, MPI_COMM_WORLD)) { return;
CHECK: static inline ::gmpi::SplitKernel step__split() { return ::gmpi::split_kernel({{.*}}, 0, {{[0-9]+}}, false, false}, step__segment<0>, step__segment<1>, step__segment<2>);
