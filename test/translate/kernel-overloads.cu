// Of kernels of one name, all get a launch function where one calls MPI; the compiler chooses.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: %gmpi-translate --cuda-path=none in.cu -o out.cu
// RUN: FileCheck --implicit-check-not=over__queue --input-file=out.cu check
// RUN: %compile-cuda out.cu
// RUN: %gmpi-translate --device=cpu in.cu -o cpu.cu
// RUN: %compile-cpu cpu.cu

//--- in.cu
#include <mpi.h>
namespace ns {
static __global__ void over(int a) { MPI_Barrier(MPI_COMM_WORLD); }
static __global__ void over(double a) {}
template <class T> __global__ void over(T *a) {}
} // namespace ns
using ns::over;
__global__ void other() {}
int main() {
  over<<<1, 1>>>(1);
  ns::over<<<1, 1>>>(1.0);
  over<int><<<1, 1>>>(nullptr);
  other<<<1, 1>>>();
}
//--- check
CHECK: static __global__ void GMPI_KERNEL_REGISTERS over__queue(::gmpi::Launched gmpi_launched, int a)
CHECK: KernelInfo over__info_3{
CHECK: static inline void over__launch(const ::gmpi::Launch &gmpi_launch, int a) { {{.*}}(over__queue), over__info_3, a); }
CHECK-NEXT: over__kernel_3{static_cast<void (*)(int a)>(over), static_cast<void (*)(::gmpi::Launched, int a)>(over__queue), over__info_3};
CHECK: static inline void over__launch(const ::gmpi::Launch &gmpi_launch, double a) { gmpi_launch(static_cast<void (*)(decltype(a))>(over), a); }
CHECK-NEXT: over__kernel_4{static_cast<void (*)(double a)>(over), over__info_4};
CHECK: template <class T> static inline void over__launch(const ::gmpi::Launch &gmpi_launch, T *a) { gmpi_launch(static_cast<void (*)(decltype(a))>(over<T>), a); }
CHECK: ::ns::over__launch(::gmpi::Launch(1, 1), 1);
CHECK-NEXT: ns::over__launch(::gmpi::Launch(1, 1), 1.0);
CHECK-NEXT: ::ns::over__launch<int>(::gmpi::Launch(1, 1), nullptr);
CHECK-NEXT: other<<<1, 1>>>();
