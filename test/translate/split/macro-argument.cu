// A call in the argument of a macro that uses it once is made before the macro.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: %gmpi-translate --lower=split --cuda-path=none in.cu -o out.cu
// RUN: FileCheck --input-file=out.cu check
// RUN: %compile-cuda out.cu
// RUN: %gmpi-translate --lower=split --device=cpu in.cu -o cpu.cu
// RUN: %compile-cpu cpu.cu

//--- in.cu
#include <mpi.h>
#define CHECK(call) do { if ((call) != MPI_SUCCESS) __trap(); } while (0)
__global__ void k(int *buf, int n) {
  buf[0] = 1;
  CHECK(MPI_Bcast(buf, n, MPI_INT, 0,
                  MPI_COMM_WORLD));
  buf[0] = 2;
}
int main() { k<<<1, 32>>>(nullptr, 4); }
//--- check
CHECK: template <int gmpi_resume> __global__ void k__segment(::gmpi::Segment gmpi_segment, int *buf, int n) { {{.*}}
CHECK-NEXT: if (!gmpi_re) { buf[0] = 1; }
CHECK-NEXT: if (::gmpi::split::MPI_Bcast<1>(gmpi_frame, gmpi_re, {{.*}} 5}, buf, n, MPI_INT, 0, MPI_COMM_WORLD)) { return; } int [[VALUE1:gmpi_value[0-9_]+]] = gmpi_frame.error(); CHECK([[VALUE1]]);
