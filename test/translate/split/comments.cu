// Comments stay where they are, once in each version of a function.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: %gmpi-translate --lower=split --cuda-path=none in.cu -o out.cu
// RUN: FileCheck --implicit-check-not=COMMENT --input-file=out.cu check
// RUN: %compile-cuda out.cu
// RUN: %gmpi-translate --lower=split --device=cpu in.cu -o cpu.cu
// RUN: %compile-cpu cpu.cu

//--- in.cu
#include <mpi.h>
// COMMENT 1
__global__ void k(int *buf /* COMMENT 2 */, int n) { // COMMENT 3
  buf[0] = 1; // COMMENT 4
  // COMMENT 5; MPI_Barrier(MPI_COMM_WORLD);
  MPI_Bcast(buf, n /* COMMENT 6 */, MPI_INT, 0, MPI_COMM_WORLD); // COMMENT 7
  if (n) // COMMENT 8
    MPI_Barrier(MPI_COMM_WORLD); // COMMENT 9
  else // COMMENT 10
    buf[1] = 2; // COMMENT 11
  /* COMMENT 12 */
} // COMMENT 13
int main() { k<<<1, 32>>>(nullptr, 3); }
//--- check
CHECK: // COMMENT 1
CHECK: COMMENT 2 */, int n) {{.*}} // COMMENT 3
CHECK-NEXT: buf[0] = 1;{{.*}} // COMMENT 4
CHECK-NEXT: // COMMENT 5; MPI_Barrier(MPI_COMM_WORLD);
CHECK-NEXT: n /* COMMENT 6 */, {{.*}} // COMMENT 7
CHECK-NEXT: // COMMENT 8
CHECK-NEXT: // COMMENT 9
CHECK-NEXT: // COMMENT 10
CHECK-NEXT: // COMMENT 11
CHECK-NEXT: /* COMMENT 12 */
CHECK-NEXT: }
CHECK: // COMMENT 13
