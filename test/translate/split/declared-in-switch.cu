// A label may be reached without the declarations before it: what has none of its own initializer is restored there.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: %gmpi-translate --lower=split --cuda-path=none in.cu -o out.cu
// RUN: FileCheck --input-file=out.cu check
// RUN: %compile-cuda out.cu
// RUN: %gmpi-translate --lower=split --device=cpu in.cu -o cpu.cu
// RUN: %compile-cpu cpu.cu

//--- in.cu
#include <mpi.h>
__global__ void k(int *buf, int n) {
  switch (n) {
  case 0:
    int value;
    value = 3;
    MPI_Barrier(MPI_COMM_WORLD);
    buf[0] = value;
    break;
  case 1:
  case 2:
    value = buf[1];
    {
      int inner;
      inner = buf[2];
      MPI_Barrier(MPI_COMM_WORLD);
      buf[1] = inner;
    }
    buf[2] = value;
    break;
  default:
    buf[3] = 1;
  }
}
int main() { k<<<1, 32>>>(nullptr, 0); }
//--- check
CHECK: case 0:
CHECK-NEXT: int value; if (gmpi_re) gmpi_frame.restore{{(_uniform)?}}<[[SLOT:[0-9]+]], 4>(value);
CHECK: case 1:
CHECK-NEXT: case 2: if (gmpi_re) gmpi_frame.restore{{(_uniform)?}}<[[SLOT]], 4>(value);
CHECK: default:
CHECK-NEXT: buf[3] = 1;
