// A resumed segment takes the branch in which its resume point is, whatever the condition says.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: %gmpi-translate --lower=split --cuda-path=none in.cu -o out.cu
// RUN: FileCheck --input-file=out.cu check
// RUN: %compile-cuda out.cu
// RUN: %gmpi-translate --lower=split --device=cpu in.cu -o cpu.cu
// RUN: %compile-cpu cpu.cu

//--- in.cu
#include <mpi.h>
__global__ void pass(int *buf, int rank, int n) {
  if (rank == 0) {
    buf[threadIdx.x] = 1;
    MPI_Send(buf, n, MPI_INT, 1, 0, MPI_COMM_WORLD);
  } else if (rank == 1)
    MPI_Recv(buf, n, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  else
    buf[threadIdx.x] = 2;
  if (n > 3)
    buf[0] = 3;
  if (n > 4) {
    buf[1] = 4;
  } else {
    MPI_Barrier(MPI_COMM_WORLD);
  }
}
int main() { pass<<<1, 32>>>(nullptr, 0, 32); }
//--- check
CHECK: template <int gmpi_resume> __global__ void pass__segment(::gmpi::Segment gmpi_segment, int *buf, int rank, int n) { {{.*}}
CHECK-NEXT: if (!gmpi_re || (gmpi_resume >= 1 && gmpi_resume <= 2)) { if (gmpi_re ? gmpi_resume == 1 : static_cast<bool>(rank == 0)) {
CHECK-NEXT: if (!gmpi_re) { buf[threadIdx.x] = 1; }
CHECK-NEXT: if (::gmpi::split::MPI_Send<1>(gmpi_frame, gmpi_re, {{.*}} 5}, buf, n, MPI_INT, 1, 0, MPI_COMM_WORLD)) { return;
CHECK-NEXT: } else {{.*}}if (gmpi_re ? true : static_cast<bool>(rank == 1))
CHECK-NEXT: if (::gmpi::split::MPI_Recv<2>(gmpi_frame, gmpi_re, {{.*}} 7}, buf, n, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE)) { return;
CHECK: buf[threadIdx.x] = 2;
CHECK-NEXT: if (!gmpi_re) { if (n > 3)
CHECK-NEXT: buf[0] = 3;
CHECK-NEXT: if (gmpi_re ? false : static_cast<bool>(n > 4)) {
CHECK: if (::gmpi::split::MPI_Barrier<3>(gmpi_frame, gmpi_re, {{.*}} 15}, MPI_COMM_WORLD)) { return;
