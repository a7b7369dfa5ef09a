// Both branches have their resume points; the compiler drops one.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: %gmpi-translate --lower=split --cuda-path=none in.cu -o out.cu
// RUN: FileCheck --input-file=out.cu check
// RUN: %compile-cuda out.cu
// RUN: %gmpi-translate --lower=split --device=cpu in.cu -o cpu.cu
// RUN: %compile-cpu cpu.cu

//--- in.cu
#include <mpi.h>
template <bool Sends> __global__ void maybe(int *buf, int n) {
  if constexpr (Sends) {
    buf[threadIdx.x] = n;
    MPI_Send(buf, n, MPI_INT, 1, 0, MPI_COMM_WORLD);
  } else {
    MPI_Recv(buf, n, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  buf[threadIdx.x] += n;
}
int main() {
  maybe<true><<<1, 32>>>(nullptr, 32);
  maybe<false><<<1, 32>>>(nullptr, 32);
}
//--- check
CHECK: template <int gmpi_resume, bool Sends> __global__ void maybe__segment(::gmpi::Segment gmpi_segment, int *buf, int n) { {{.*}}
CHECK-NEXT: if constexpr (Sends) {
CHECK-NEXT: if (!gmpi_re) { buf[threadIdx.x] = n; }
CHECK-NEXT: if (::gmpi::split::MPI_Send<1>(gmpi_frame, gmpi_re, {{.*}} 5}, buf, n, MPI_INT, 1, 0, MPI_COMM_WORLD)) { return;
CHECK: if (::gmpi::split::MPI_Recv<2>(gmpi_frame, gmpi_re, {{.*}} 7}, buf, n, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE)) { return;
CHECK: template <bool Sends> static inline ::gmpi::SplitKernel maybe__split() { return ::gmpi::split_kernel({{.*}}, 0, {{[0-9]+}}, false, false}, maybe__segment<0, Sends>, maybe__segment<1, Sends>, maybe__segment<2, Sends>);
CHECK: maybe__launch<true>(::gmpi::Launch(1, 32), nullptr, 32);
CHECK-NEXT: maybe__launch<false>(::gmpi::Launch(1, 32), nullptr, 32);
