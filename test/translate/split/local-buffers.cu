// Variables that a call reads or writes are saved with it, so that the call finds them.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: %gmpi-translate --lower=split --cuda-path=none in.cu -o out.cu
// RUN: FileCheck --input-file=out.cu check
// RUN: %compile-cuda out.cu
// RUN: %gmpi-translate --lower=split --device=cpu in.cu -o cpu.cu
// RUN: %compile-cpu cpu.cu

//--- in.cu
#include <mpi.h>
struct Header { int tag, count; };
__global__ void k(double *data, int peer) {
  double mine = 2, sum;
  Header header;
  MPI_Status status;
  MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Recv(&header, 2, MPI_INT, peer, 0, MPI_COMM_WORLD, &status);
  MPI_Recv(data, header.count, MPI_DOUBLE, peer, header.tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  data[0] = sum + status.MPI_SOURCE;
}
int main() { k<<<1, 32>>>(nullptr, 1); }
//--- check
CHECK: template <int gmpi_resume> __global__ void k__segment(::gmpi::Segment gmpi_segment, double *data, int peer) { {{.*}}
CHECK-NEXT: double mine = gmpi_re ? gmpi_frame.saved{{(_uniform)?}}<decltype(mine), {{[0-9]+}}, 8>() : (2), sum; if (gmpi_re) gmpi_frame.restore{{(_uniform)?}}<{{[0-9]+}}, 8>(sum);
CHECK-NEXT: Header header; if (gmpi_re) gmpi_frame.restore{{(_uniform)?}}<{{[0-9]+}}, 8>(header);
CHECK-NEXT: MPI_Status status; if (gmpi_re) gmpi_frame.restore{{(_uniform)?}}<{{[0-9]+}}, {{[0-9]+}}>(status);
CHECK-NEXT: if (!gmpi_re || gmpi_resume == 1) { if (::gmpi::split::MPI_Allreduce<1>(gmpi_frame, gmpi_re, {{.*}} 7}, &mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD)) { gmpi_frame.save{{(_uniform)?}}<{{[0-9]+}}, 8>(mine); gmpi_frame.save{{(_uniform)?}}<{{[0-9]+}}, 8>(sum); gmpi_frame.save{{(_uniform)?}}<{{[0-9]+}}, 8>(header); gmpi_frame.save{{(_uniform)?}}<{{[0-9]+}}, {{[0-9]+}}>(status); return;
CHECK-NEXT: if (!gmpi_re || gmpi_resume == 2) { if (::gmpi::split::MPI_Recv<2>(gmpi_frame, gmpi_re, {{.*}} 8}, &header, 2, MPI_INT, peer, 0, MPI_COMM_WORLD, &status)) { gmpi_frame.save{{(_uniform)?}}<{{[0-9]+}}, 8>(sum); gmpi_frame.save{{(_uniform)?}}<{{[0-9]+}}, 8>(header); gmpi_frame.save{{(_uniform)?}}<{{[0-9]+}}, {{[0-9]+}}>(status); return;
CHECK-NEXT: if (::gmpi::split::MPI_Recv<3>(gmpi_frame, gmpi_re, {{.*}} 9}, data, header.count, MPI_DOUBLE, peer, header.tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE)) { gmpi_frame.save{{(_uniform)?}}<{{[0-9]+}}, 8>(sum); gmpi_frame.save{{(_uniform)?}}<{{[0-9]+}}, 8>(header); gmpi_frame.save{{(_uniform)?}}<{{[0-9]+}}, {{[0-9]+}}>(status); return;
