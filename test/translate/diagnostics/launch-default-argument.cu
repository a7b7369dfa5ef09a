// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: not %gmpi-translate --cuda-path=none in.cu -o out.cu 2>&1 | FileCheck --implicit-check-not=error: check

//--- in.cu
#include <mpi.h>
__global__ void elsewhere(int n, int peer = 1);
int main() { elsewhere<<<1, 1>>>(1); }
//--- check
CHECK: in.cu:3:14: error: kernel 'elsewhere' is defined elsewhere, so this launch must give every argument [gmpi-launch-default-argument]
CHECK: note: write the default arguments out, or include the kernel's definition
