// A loop around MPI_Iprobe: its flag and status come with the next segment, to all threads the same.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: %gmpi-translate --lower=split --cuda-path=none in.cu -o out.cu
// RUN: FileCheck --input-file=out.cu check
// RUN: %compile-cuda out.cu
// RUN: %compile-cuda-openmpi out.cu
// RUN: %gmpi-translate --lower=split --device=cpu in.cu -o cpu.cu
// RUN: %compile-cpu cpu.cu

//--- in.cu
#include <mpi.h>
__global__ void k(int *buf, int left) {
  MPI_Status status;
  int flag = 0, count;
  do
    MPI_Iprobe(left, 0, MPI_COMM_WORLD, &flag, &status);
  while (!flag);
  MPI_Get_count(&status, MPI_INT, &count);
  MPI_Recv(buf, count, MPI_INT, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Probe(left, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
int main() { k<<<1, 32>>>(nullptr, 0); }
//--- check
CHECK: template <int gmpi_resume> __global__ void k__segment(
CHECK: MPI_Status status; if (gmpi_re) gmpi_frame.restore_uniform<0, [[SIZE:[0-9]+]]>(status);
CHECK: int flag = gmpi_re ? gmpi_frame.saved_uniform<decltype(flag), [[SIZE]], 4>() : (0), count;
CHECK: if (!gmpi_re || gmpi_resume == 1) { do
CHECK-NEXT: { if (::gmpi::split::MPI_Iprobe<1>(gmpi_frame, gmpi_re, {{.*}} 6}, left, 0, MPI_COMM_WORLD, &flag, &status)) { gmpi_frame.save_uniform<0, [[SIZE]]>(status); gmpi_frame.save_uniform<[[SIZE]], 4>(flag);
CHECK-NEXT: while (!flag); }
CHECK-NEXT: if (!gmpi_re) { ::gmpi::thread::MPI_Get_count({{.*}} 8}, &status, MPI_INT, &count); }
CHECK: if (::gmpi::split::MPI_Recv<2>(
CHECK: if (::gmpi::split::MPI_Probe<3>(gmpi_frame, gmpi_re, {{.*}} 10}, left, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE)) { return; }
