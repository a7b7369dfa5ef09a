// Overloads that were deleted are never launched: only the others are translated. (nvcc 13.0 itself
// crashes on a deleted kernel that is no template.)
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: %gmpi-translate --cuda-path=none in.cu -o out.cu
// RUN: FileCheck --input-file=out.cu check
// RUN: %gmpi-translate --cuda-path=none template.cu -o template-out.cu
// RUN: FileCheck --check-prefix=TEMPLATE --input-file=template-out.cu check
// RUN: %compile-cuda template-out.cu
// RUN: %gmpi-translate --device=cpu in.cu -o cpu.cu
// RUN: %compile-cpu cpu.cu
// RUN: not %gmpi-translate --cuda-path=none wrong.cu -o wrong-out.cu 2>&1 | FileCheck --check-prefix=WRONG check

//--- in.cu
#include <mpi.h>
__global__ void k(int n) { MPI_Barrier(MPI_COMM_WORLD); }
__global__ void k(float) = delete;
__global__ void plain(int n) {}
__global__ void plain(float) = delete;
template <class T> void run(T n) { k<<<1, 1>>>(n); }
int main() {
  k<<<1, 1>>>(1);
  plain<<<1, 1>>>(1);
  run(2);
}
//--- template.cu
#include <mpi.h>
__global__ void k(int n) { MPI_Barrier(MPI_COMM_WORLD); }
template <class T> __global__ void k(T *) = delete;
int main() { k<<<1, 1>>>(1); }
//--- wrong.cu
#include <mpi.h>
__global__ void k(int n) { MPI_Barrier(MPI_COMM_WORLD); }
__global__ void k(float) = delete;
int main() { k<<<1, 1>>>(1.0f); }
//--- check
CHECK: k__kernel_2{static_cast<void (*)(int n)>(k), static_cast<void (*)(::gmpi::Launched, int n)>(k__queue), k__info_2};
CHECK: __global__ void k(float) = delete;
CHECK-NEXT: __global__ void plain(int n) {}
CHECK: void run(T n) { k__launch(::gmpi::Launch(1, 1), n); }
CHECK: k__launch(::gmpi::Launch(1, 1), 1);
CHECK-NEXT: plain<<<1, 1>>>(1);
TEMPLATE: k__kernel_2{static_cast<void (*)(int n)>(k),
TEMPLATE: int main() { k__launch(::gmpi::Launch(1, 1), 1); }
WRONG: wrong.cu:4:14: error: call to deleted function 'k'
