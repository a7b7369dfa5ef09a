// The resume point comes before the template arguments, which may be given or deduced.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: %gmpi-translate --lower=split --cuda-path=none in.cu -o out.cu
// RUN: FileCheck --input-file=out.cu check
// RUN: %compile-cuda out.cu
// RUN: %gmpi-translate --lower=split --device=cpu in.cu -o cpu.cu
// RUN: %compile-cpu cpu.cu

//--- in.cu
#include <mpi.h>
template <class T, int Count = 2> __device__ T summed(T *buf, T more) {
  T mine = buf[Count];
  MPI_Barrier(MPI_COMM_WORLD);
  return mine + more;
}
__global__ void k(double *d, int *i) {
  d[0] = summed(d, 1.0);
  i[0] = summed<int, 3>(i, 1);
}
int main() { k<<<1, 32>>>(nullptr, nullptr); }
//--- check
CHECK: ::gmpi::grid::MPI_Barrier({{.*}} 4}, MPI_COMM_WORLD);
CHECK: template <int gmpi_resume, class T, int Count = 2, class gmpi_Result> __device__ inline bool summed__segment(::gmpi::Frame gmpi_frame, bool &gmpi_re, gmpi_Result &gmpi_result, T *buf, T more) { if (gmpi_re) gmpi_frame.restore{{(_uniform)?}}<{{[0-9]+}}, 8>(more);
CHECK-NEXT: T mine = gmpi_re ? gmpi_frame.saved{{(_uniform)?}}<decltype(mine), {{[0-9]+}}, 8>() : (buf[Count]);
CHECK-NEXT: if (::gmpi::split::MPI_Barrier<1>(gmpi_frame, gmpi_re, {{.*}} 4}, MPI_COMM_WORLD)) { gmpi_frame.save{{(_uniform)?}}<{{[0-9]+}}, 8>(more); gmpi_frame.save{{(_uniform)?}}<{{[0-9]+}}, 8>(mine); return true;
CHECK-NEXT: gmpi_result = mine + more; return false;
CHECK-NEXT: return false;
CHECK-NEXT: #line 7
CHECK-NEXT: template <int gmpi_resume> __global__ void k__segment(::gmpi::Segment gmpi_segment, double *d, int *i) { {{.*}}
CHECK-NEXT: if (!gmpi_re || gmpi_resume == 1) { ::gmpi::split::Plain<decltype(summed(d, 1.0))> [[VALUE1:gmpi_value[0-9_]+]]; if (summed__segment<::gmpi::within(gmpi_resume, 1, 1)>(gmpi_frame.callee(gmpi_summed_{{[0-9]+}}_uniform, gmpi_summed_{{[0-9]+}}_block, gmpi_summed_{{[0-9]+}}_thread, 1), gmpi_re, [[VALUE1]], d, 1.0)) { return; } d[0] = [[VALUE1]]; }
CHECK-NEXT: ::gmpi::split::Plain<decltype(summed<int, 3>(i, 1))> [[VALUE2:gmpi_value[0-9_]+]]; if (summed__segment<::gmpi::within(gmpi_resume, 2, 2), int, 3>(gmpi_frame.callee(gmpi_summed_{{[0-9]+}}_uniform, gmpi_summed_{{[0-9]+}}_block, gmpi_summed_{{[0-9]+}}_thread, 2), gmpi_re, [[VALUE2]], i, 1)) { return; } i[0] = [[VALUE2]];
