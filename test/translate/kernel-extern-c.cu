// Both spellings of C linkage.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: %gmpi-translate --cuda-path=none in.cu -o out.cu
// RUN: FileCheck --input-file=out.cu check
// RUN: %compile-cuda out.cu
// RUN: %gmpi-translate --device=cpu in.cu -o cpu.cu
// RUN: %compile-cpu cpu.cu

//--- in.cu
#include <mpi.h>
extern "C" __global__ void one(void) { MPI_Barrier(MPI_COMM_WORLD); }
extern "C" { __global__ void two() { MPI_Barrier(MPI_COMM_WORLD); } }
int main() {
  one<<<1, 1>>>();
  two<<<1, 1>>>();
}
//--- check
CHECK: extern "C" __global__ void GMPI_KERNEL_REGISTERS one__queue(::gmpi::Launched gmpi_launched) { ::gmpi::Participant
CHECK: extern "C" __global__ void one(void) { ::gmpi::raw_launch(
CHECK-NEXT: static inline void one__launch(const ::gmpi::Launch &gmpi_launch) { gmpi_launch.queue(static_cast<void (*)()>(one), static_cast<void (*)(::gmpi::Launched)>(one__queue), one__info); }
CHECK: extern "C" { __global__ void GMPI_KERNEL_REGISTERS two__queue(::gmpi::Launched gmpi_launched) {
CHECK: {{^}}__global__ void two() { ::gmpi::raw_launch(
CHECK: #line 3 "in.cu"
CHECK-NEXT: {{^}} }
CHECK: one__launch(::gmpi::Launch(1, 1));
CHECK-NEXT: two__launch(::gmpi::Launch(1, 1));
