// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: not %gmpi-translate --device=cpu in.cu -o out.cu 2>&1 | FileCheck --implicit-check-not=error: check

//--- in.cu
__device__ int lane() {
  int id;
  asm("mov.u32 %0, %%laneid;" : "=r"(id));
  return id;
}
__global__ void k(int *p) { *p = lane(); }
//--- check
CHECK: in.cu:3:3: error: inline PTX in 'lane' cannot run on the cpu device [gmpi-cpu-assembly]
CHECK: note: put it behind #ifndef GMPI_DEVICE_CPU, with C++ beside it
