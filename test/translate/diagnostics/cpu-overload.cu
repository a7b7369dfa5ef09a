// Clang as CUDA compiler tells such functions apart; nvcc says itself that it does not.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: not %gmpi-translate --device=cpu in.cu -o out.cu 2>&1 | FileCheck --implicit-check-not=error: check
// RUN: %gmpi-translate --cuda-path=none in.cu -o cuda.cu && cmp in.cu cuda.cu

//--- in.cu
__host__ int side() { return 0; }
__device__ int side() { return 1; }
__device__ int side(int) { return 1; }
__global__ void k(int *p) { *p = side(); }
//--- check
CHECK: in.cu:2:16: error: 'side' is defined for the host and for the device separately, which the cpu device cannot tell apart [gmpi-cpu-overload]
CHECK: note: give the two functions different names, or make one of them __host__ __device__
CHECK: in.cu:1:14: note: the other one is here
