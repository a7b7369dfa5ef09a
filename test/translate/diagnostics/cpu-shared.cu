// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: not %gmpi-translate --device=cpu in.cu -o out.cu 2>&1 | FileCheck --implicit-check-not=error: check

//--- in.cu
extern __shared__ int dynamic[];
#define TILE __shared__ int tile
__global__ void k(int *p) {
  TILE[3];
  *p = tile[0] + dynamic[0];
}
//--- check
CHECK: in.cu:1:23: error: __shared__ variable 'dynamic' cannot be rewritten for the cpu device: it is declared outside of functions [gmpi-cpu-shared]
CHECK: note: declare it by itself, in a function
CHECK: in.cu:4:3: error: __shared__ variable 'tile' cannot be rewritten for the cpu device: it comes from a macro [gmpi-cpu-shared]
