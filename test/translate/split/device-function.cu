// A device function with calls gets a resumable version, declared where the function is; the other one stays.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: %gmpi-translate --lower=split --cuda-path=none in.cu -o out.cu
// RUN: FileCheck --input-file=out.cu check
// RUN: %compile-cuda out.cu
// RUN: %gmpi-translate --lower=split --device=cpu in.cu -o cpu.cu
// RUN: %compile-cpu cpu.cu

//--- in.cu
#include <mpi.h>
__device__ int exchange(int *buf, int peer);
__global__ void k(int *buf) {
  int before = buf[2];
  int got = exchange(buf, 1);
  buf[1] = got + before;
  (void)exchange(buf, 0);
}
__device__ int exchange(int *buf, int peer) {
  int mine = buf[threadIdx.x];
  MPI_Send(buf, 1, MPI_INT, peer, 0, MPI_COMM_WORLD);
  MPI_Recv(buf, 1, MPI_INT, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return buf[0] + mine;
}
int main() { k<<<1, 32>>>(nullptr); }
//--- check
CHECK: template <int gmpi_resume, class gmpi_Result> __device__ inline bool exchange__segment(::gmpi::Frame gmpi_frame, bool &gmpi_re, gmpi_Result &gmpi_result, int *buf, int peer);
CHECK-NEXT: #line 3
CHECK-NEXT: template <int gmpi_resume> __global__ void k__segment(::gmpi::Segment gmpi_segment, int *buf) { {{.*}}
CHECK-NEXT: int before = gmpi_re ? gmpi_frame.saved{{(_uniform)?}}<decltype(before), {{[0-9]+}}, 4>() : (buf[2]);
CHECK-NEXT: ::gmpi::split::Plain<decltype(exchange(buf, 1))> [[VALUE1:gmpi_value[0-9_]+]]; if (!gmpi_re || (gmpi_resume >= 1 && gmpi_resume <= 2)) { if (exchange__segment<::gmpi::within(gmpi_resume, 1, 2)>(gmpi_frame.callee(gmpi_exchange_{{[0-9]+}}_uniform, gmpi_exchange_{{[0-9]+}}_block, gmpi_exchange_{{[0-9]+}}_thread, 1), gmpi_re, [[VALUE1]], buf, 1)) { gmpi_frame.save{{(_uniform)?}}<{{[0-9]+}}, 4>(before); return; } } int got = gmpi_re ? ::gmpi::split::nothing<decltype(got)>() : ([[VALUE1]]);
CHECK-NEXT: if (!gmpi_re) { buf[1] = got + before; }
CHECK-NEXT: ::gmpi::split::Plain<decltype(exchange(buf, 0))> [[VALUE2:gmpi_value[0-9_]+]]; if (exchange__segment<::gmpi::within(gmpi_resume, 3, 4)>(gmpi_frame.callee(gmpi_exchange_{{[0-9]+}}_uniform, gmpi_exchange_{{[0-9]+}}_block, gmpi_exchange_{{[0-9]+}}_thread, 3), gmpi_re, [[VALUE2]], buf, 0)) { return;
CHECK: ::gmpi::grid::MPI_Send({{.*}} 11}, buf, 1, MPI_INT, peer, 0, MPI_COMM_WORLD);
CHECK-NEXT: ::gmpi::grid::MPI_Recv({{.*}} 12}, buf, 1, MPI_INT, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
CHECK: template <int gmpi_resume, class gmpi_Result> __device__ inline bool exchange__segment(::gmpi::Frame gmpi_frame, bool &gmpi_re, gmpi_Result &gmpi_result, int *buf, int peer) { if (gmpi_re) gmpi_frame.restore{{(_uniform)?}}<{{[0-9]+}}, 8>(buf); if (gmpi_re) gmpi_frame.restore{{(_uniform)?}}<{{[0-9]+}}, 4>(peer);
CHECK-NEXT: int mine = gmpi_re ? gmpi_frame.saved{{(_uniform)?}}<decltype(mine), {{[0-9]+}}, 4>() : (buf[threadIdx.x]);
CHECK-NEXT: if (!gmpi_re || gmpi_resume == 1) { if (::gmpi::split::MPI_Send<1>(gmpi_frame, gmpi_re, {{.*}} 11}, buf, 1, MPI_INT, peer, 0, MPI_COMM_WORLD)) { gmpi_frame.save{{(_uniform)?}}<{{[0-9]+}}, 8>(buf); gmpi_frame.save{{(_uniform)?}}<{{[0-9]+}}, 4>(peer); gmpi_frame.save{{(_uniform)?}}<{{[0-9]+}}, 4>(mine); return true;
CHECK-NEXT: if (::gmpi::split::MPI_Recv<2>(gmpi_frame, gmpi_re, {{.*}} 12}, buf, 1, MPI_INT, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE)) { gmpi_frame.save{{(_uniform)?}}<{{[0-9]+}}, 8>(buf); gmpi_frame.save{{(_uniform)?}}<{{[0-9]+}}, 4>(peer); gmpi_frame.save{{(_uniform)?}}<{{[0-9]+}}, 4>(mine); return true;
CHECK-NEXT: gmpi_result = buf[0] + mine; return false;
CHECK-NEXT: return false;
CHECK-NEXT: #line 15
