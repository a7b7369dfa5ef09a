// Segments are templates, which have no C linkage.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: %gmpi-translate --lower=split --cuda-path=none in.cu -o out.cu
// RUN: FileCheck --input-file=out.cu check
// RUN: %compile-cuda out.cu
// RUN: %gmpi-translate --lower=split --device=cpu in.cu -o cpu.cu
// RUN: %compile-cpu cpu.cu

//--- in.cu
#include <mpi.h>
extern "C" __global__ void one(int *buf) { MPI_Barrier(MPI_COMM_WORLD); }
extern "C" {
__global__ void two(int *buf) { MPI_Barrier(MPI_COMM_WORLD); }
}
int main() {
  one<<<1, 32>>>(nullptr);
  two<<<1, 32>>>(nullptr);
}
//--- check
CHECK: template <int gmpi_resume>  __global__ void one__segment(::gmpi::Segment gmpi_segment, int *buf) { {{.*}} if (::gmpi::split::MPI_Barrier<1>(gmpi_frame, gmpi_re, {{.*}} 2}, MPI_COMM_WORLD)) { return;
CHECK: static inline ::gmpi::SplitKernel one__split() { return ::gmpi::split_kernel({{.*}}, 0, {{[0-9]+}}, false, false}, one__segment<0>, one__segment<1>);
CHECK-NEXT: static inline void one__launch(const ::gmpi::Launch &gmpi_launch, int *buf) { gmpi_launch.split(static_cast<void (*)(decltype(buf))>(one), nullptr, one__split, one__info, buf); }
CHECK-NEXT: static const ::gmpi::Kernel one__kernel{one, nullptr, one__split, one__info};
CHECK-NEXT: #line 3
CHECK-NEXT: extern "C" {
CHECK-NEXT: extern "C++" { template <int gmpi_resume> __global__ void two__segment(::gmpi::Segment gmpi_segment, int *buf) { {{.*}} if (::gmpi::split::MPI_Barrier<1>(gmpi_frame, gmpi_re, {{.*}} 4}, MPI_COMM_WORLD)) { return;
CHECK: static inline ::gmpi::SplitKernel two__split() { return ::gmpi::split_kernel({{.*}}, 0, {{[0-9]+}}, false, false}, two__segment<0>, two__segment<1>);
CHECK-NEXT: static inline void two__launch(const ::gmpi::Launch &gmpi_launch, int *buf) { gmpi_launch.split(static_cast<void (*)(decltype(buf))>(two), nullptr, two__split, two__info, buf); }
CHECK-NEXT: static const ::gmpi::Kernel two__kernel{two, nullptr, two__split, two__info};
CHECK-NEXT: #line 5
CHECK: int main() {
CHECK-NEXT: one__launch(::gmpi::Launch(1, 32), nullptr);
CHECK-NEXT: two__launch(::gmpi::Launch(1, 32), nullptr);
