// Calls of block and thread scope, and local ones, go through the queue from within a segment.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: %gmpi-translate --lower=split --cuda-path=none in.cu -o out.cu
// RUN: FileCheck --input-file=out.cu check
// RUN: %compile-cuda out.cu
// RUN: %gmpi-translate --lower=split --device=cpu in.cu -o cpu.cu
// RUN: %compile-cpu cpu.cu

//--- in.cu
#include <mpi.h>
__global__ void k(int *buf) {
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (threadIdx.x == 0)
    MPI_Send(buf + blockIdx.x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  buf[1] = rank;
}
int main() { k<<<1, 32>>>(nullptr); }
//--- check
CHECK: template <int gmpi_resume> __global__ void k__segment(::gmpi::Segment gmpi_segment, int *buf) { ::gmpi::Frame gmpi_frame(gmpi_segment); ::gmpi::Participant gmpi_participant(gmpi_segment.launched()); bool gmpi_re = gmpi_resume != 0;
CHECK-NEXT: int rank; if (gmpi_re) gmpi_frame.restore{{(_uniform)?}}<{{[0-9]+}}, 4>(rank);
CHECK-NEXT: if (!gmpi_re) { ::gmpi::thread::MPI_Comm_rank({{.*}} 4}, MPI_COMM_WORLD, &rank);
CHECK: ::gmpi::thread::MPI_Send({{.*}} 6}, buf + blockIdx.x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
CHECK-NEXT: if (::gmpi::split::MPI_Barrier<1>(gmpi_frame, gmpi_re, {{.*}} 7}, MPI_COMM_WORLD)) { gmpi_frame.save{{(_uniform)?}}<{{[0-9]+}}, 4>(rank); return;
