// Requests are values that are saved; room is for the handles of any MPI library.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: %gmpi-translate --lower=split --cuda-path=none in.cu -o out.cu
// RUN: FileCheck --input-file=out.cu check
// RUN: %compile-cuda out.cu
// RUN: %compile-cuda-openmpi out.cu
// RUN: %gmpi-translate --lower=split --device=cpu in.cu -o cpu.cu
// RUN: %compile-cpu cpu.cu

//--- in.cu
#include <mpi.h>
__device__ void finish(MPI_Request *request) { MPI_Wait(request, MPI_STATUS_IGNORE); }
__global__ void k(int *buf) {
  MPI_Request requests[2];
  MPI_Request other;
  MPI_Irecv(buf, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(buf + 1, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, requests + 1);
  MPI_Isend(buf + 2, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &other);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  finish(&other);
}
int main() { k<<<1, 32>>>(nullptr); }
//--- check
CHECK: __device__ void finish(MPI_Request *request) { ::gmpi::grid::MPI_Wait({{.*}} 2}, request, MPI_STATUS_IGNORE);
CHECK-NEXT: #line 2
CHECK-NEXT: template <int gmpi_resume> __device__ inline bool finish__segment(::gmpi::Frame gmpi_frame, bool &gmpi_re, MPI_Request *request) { if (gmpi_re) gmpi_frame.restore{{(_uniform)?}}<{{[0-9]+}}, {{[0-9]+}}>(request); if (::gmpi::split::MPI_Wait<1>(gmpi_frame, gmpi_re, {{.*}} 2}, request, MPI_STATUS_IGNORE)) { gmpi_frame.save{{(_uniform)?}}<{{[0-9]+}}, {{[0-9]+}}>(request); return true; } return false;
CHECK-NEXT: #line 3
CHECK-NEXT: template <int gmpi_resume> __global__ void k__segment(::gmpi::Segment gmpi_segment, int *buf) { {{.*}}
CHECK-NEXT: typedef MPI_Request gmpi_requests_t[2]; gmpi_requests_t &requests = gmpi_frame.resident<gmpi_requests_t, {{[0-9]+}}, {{[0-9]+}}>();
CHECK-NEXT: typedef MPI_Request gmpi_other_t; gmpi_other_t &other = gmpi_frame.resident<gmpi_other_t, {{[0-9]+}}, {{[0-9]+}}>();
CHECK-NEXT: if (!gmpi_re || gmpi_resume == 1) { if (::gmpi::split::MPI_Irecv<1>(gmpi_frame, gmpi_re, {{.*}} 6}, buf, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &requests[0])) { return;
CHECK-NEXT: if (!gmpi_re || gmpi_resume == 2) { if (::gmpi::split::MPI_Irecv<2>(gmpi_frame, gmpi_re, {{.*}} 7}, buf + 1, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, requests + 1)) { return;
CHECK-NEXT: if (!gmpi_re || gmpi_resume == 3) { if (::gmpi::split::MPI_Isend<3>(gmpi_frame, gmpi_re, {{.*}} 8}, buf + 2, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &other)) { return;
CHECK-NEXT: if (!gmpi_re || gmpi_resume == 4) { if (::gmpi::split::MPI_Waitall<4>(gmpi_frame, gmpi_re, {{.*}} 9}, 2, requests, MPI_STATUSES_IGNORE)) { return;
CHECK-NEXT: if (finish__segment<::gmpi::within(gmpi_resume, 5, 5)>(gmpi_frame.callee(gmpi_finish_{{[0-9]+}}_uniform, gmpi_finish_{{[0-9]+}}_block, gmpi_finish_{{[0-9]+}}_thread, 5), gmpi_re, &other)) { return; }
