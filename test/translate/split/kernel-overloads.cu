// Overloads share their segments' name; addresses are taken by type.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: %gmpi-translate --lower=split --cuda-path=none in.cu -o out.cu
// RUN: FileCheck --input-file=out.cu check
// RUN: %compile-cuda out.cu
// RUN: %gmpi-translate --lower=split --device=cpu in.cu -o cpu.cu
// RUN: %compile-cpu cpu.cu

//--- in.cu
#include <mpi.h>
namespace app {
__global__ void k(int n) { MPI_Barrier(MPI_COMM_WORLD); }
__global__ static void k(double x, int n = 3) { MPI_Barrier(MPI_COMM_WORLD); }
} // namespace app
__global__ void k() { MPI_Barrier(MPI_COMM_WORLD); }
int main() {
  app::k<<<1, 32>>>(1);
  app::k<<<1, 32>>>(1.5);
  k<<<1, 32>>>();
}
//--- check
CHECK: namespace app {
CHECK-NEXT: template <int gmpi_resume> __global__ void k__segment(::gmpi::Segment gmpi_segment, int n) { {{.*}} if (::gmpi::split::MPI_Barrier<1>(gmpi_frame, gmpi_re, {{.*}} 3}, MPI_COMM_WORLD)) { return;
CHECK: static inline ::gmpi::SplitKernel k__split_3() { return ::gmpi::split_kernel({{.*}}, 0, {{[0-9]+}}, false, false}, static_cast<void (*)(::gmpi::Segment, int n)>(k__segment<0>), static_cast<void (*)(::gmpi::Segment, int n)>(k__segment<1>));
CHECK-NEXT: static inline void k__launch(const ::gmpi::Launch &gmpi_launch, int n) { gmpi_launch.split(static_cast<void (*)(decltype(n))>(k), nullptr, k__split_3, k__info_3, n); }
CHECK-NEXT: static const ::gmpi::Kernel k__kernel_3{static_cast<void (*)(int n)>(k), nullptr, k__split_3, k__info_3};
CHECK-NEXT: #line 4
CHECK-NEXT: template <int gmpi_resume> __global__ static void k__segment(::gmpi::Segment gmpi_segment, double x, int n ) { {{.*}} if (::gmpi::split::MPI_Barrier<1>(gmpi_frame, gmpi_re, {{.*}} 4}, MPI_COMM_WORLD)) { return;
CHECK: static inline ::gmpi::SplitKernel k__split_4() { return ::gmpi::split_kernel({{.*}}, 0, {{[0-9]+}}, false, false}, static_cast<void (*)(::gmpi::Segment, double x, int n)>(k__segment<0>), static_cast<void (*)(::gmpi::Segment, double x, int n)>(k__segment<1>));
CHECK-NEXT: static inline void k__launch(const ::gmpi::Launch &gmpi_launch, double x, int n = 3) { gmpi_launch.split(static_cast<void (*)(decltype(x), decltype(n))>(k), nullptr, k__split_4, k__info_4, x, n); }
CHECK-NEXT: static const ::gmpi::Kernel k__kernel_4{static_cast<void (*)(double x, int n)>(k), nullptr, k__split_4, k__info_4};
CHECK-NEXT: #line 5
CHECK-NEXT: } // namespace app
CHECK-NEXT: template <int gmpi_resume> __global__ void k__segment(::gmpi::Segment gmpi_segment) { {{.*}} if (::gmpi::split::MPI_Barrier<1>(gmpi_frame, gmpi_re, {{.*}} 6}, MPI_COMM_WORLD)) { return;
CHECK: static inline ::gmpi::SplitKernel k__split() { return ::gmpi::split_kernel({{.*}}, 0, {{[0-9]+}}, false, false}, k__segment<0>, k__segment<1>);
CHECK-NEXT: static inline void k__launch(const ::gmpi::Launch &gmpi_launch) { gmpi_launch.split(static_cast<void (*)()>(k), nullptr, k__split, k__info); }
CHECK-NEXT: static const ::gmpi::Kernel k__kernel{k, nullptr, k__split, k__info};
CHECK-NEXT: #line 7
CHECK-NEXT: int main() {
CHECK-NEXT: app::k__launch(::gmpi::Launch(1, 32), 1);
CHECK-NEXT: app::k__launch(::gmpi::Launch(1, 32), 1.5);
CHECK-NEXT: k__launch(::gmpi::Launch(1, 32));
