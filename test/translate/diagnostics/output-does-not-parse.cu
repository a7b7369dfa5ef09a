// What does not parse any more once it is translated is the translator's own mistake, told before
// anything is written. Here a macro of the user's is in the way of a generated name.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: not %gmpi-translate --cuda-path=none in.cu -o out.cu --report=out.json --depfile=out.d 2>&1 | FileCheck --implicit-check-not=error: check
// RUN: not ls out.cu
// RUN: not ls out.json
// RUN: not ls out.d
// RUN: not %gmpi-translate --device=cpu in.cu -o out.cu 2>&1 | FileCheck --implicit-check-not=error: check
// RUN: not ls out.cu

// The split kernel alone is in the way.
// RUN: not %gmpi-translate --lower=queue,split --cuda-path=none split.cu -o out.cu 2>&1 | FileCheck --check-prefix=SPLIT --implicit-check-not=error: check
// RUN: not %gmpi-translate --lower=split --device=cpu split.cu -o out.cu 2>&1 | FileCheck --check-prefix=SPLIT --implicit-check-not=error: check
// RUN: not ls out.cu
// RUN: %gmpi-translate --lower=queue --cuda-path=none split.cu -o out.cu

// In a header; what an earlier translation left on disk is not what is parsed.
// RUN: rm out.cu && mkdir -p out.cu.d && echo "#error old" > out.cu.d/kernel.h
// RUN: not %gmpi-translate --cuda-path=none header.cu -o out.cu 2>&1 | FileCheck --check-prefix=HEADER --implicit-check-not=error: check
// RUN: not ls out.cu
// RUN: FileCheck --check-prefix=OLD --input-file=out.cu.d/kernel.h check
// RUN: %gmpi-translate --cuda-path=none header.cu -o out.cu -- -DFREE
// RUN: not FileCheck --check-prefix=OLD --input-file=out.cu.d/kernel.h check

// Clang's notes follow.
// RUN: not %gmpi-translate --lower=split --cuda-path=none notes.cu -o out.cu 2>&1 | FileCheck --check-prefix=NOTES --implicit-check-not=error: check

// Nothing to translate, nothing to parse.
// RUN: %gmpi-translate --cuda-path=none plain.cu -o plain-out.cu
// RUN: cmp plain.cu plain-out.cu

//--- in.cu
#include <mpi.h>
#define gmpi_participant 3

__global__ void k() {
  MPI_Barrier(MPI_COMM_WORLD);
}
int main() { k<<<1, 1>>>(); }
//--- split.cu
#include <mpi.h>
#define gmpi_frame 3
__global__ void k() {
  MPI_Barrier(MPI_COMM_WORLD);
}
int main() { k<<<1, 1>>>(); }
//--- header.cu
#include "kernel.h"
int main() { k<<<1, 1>>>(); }
//--- kernel.h
#include <mpi.h>
#ifndef FREE
#define gmpi_participant 3
#endif
__global__ void k() { MPI_Barrier(MPI_COMM_WORLD); }
//--- notes.cu
#include <mpi.h>
#define save_uniform saved_uniform
__global__ void k(int *out, int n) {
  int sum = n;
  MPI_Allreduce(MPI_IN_PLACE, out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  for (; n > 0; --n)
    MPI_Allreduce(MPI_IN_PLACE, out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  *out = sum + n;
}
int main() { k<<<1, 1>>>(nullptr, 1); }
//--- plain.cu
#define gmpi_participant 3
__global__ void k() {}
int main() { k<<<1, 1>>>(); }
//--- check
CHECK: in.cu:4:{{[0-9]+}}: error: gmpi-translate has made a mistake: its translation of this does not parse ({{.*}}), so nothing is written [gmpi-output-does-not-parse]
CHECK-NEXT: {{^ *[0-9]+ \| __global__ void GMPI_KERNEL_REGISTERS k__queue.*gmpi_participant}}
CHECK: note: it is not your program's fault; please report this message with the code that it points to{{$}}
SPLIT: split.cu:3:{{[0-9]+}}: error: gmpi-translate has made a mistake: {{.*}}[gmpi-output-does-not-parse]
SPLIT: note: {{.*}}; --lower=queue may get around it
HEADER: kernel.h:5:{{[0-9]+}}: error: gmpi-translate has made a mistake: {{.*}}[gmpi-output-does-not-parse]
OLD: #error old
NOTES: notes.cu:{{[0-9]+}}:{{[0-9]+}}: error: gmpi-translate has made a mistake: {{.*}}(no matching member function for call to 'saved_uniform'){{.*}}[gmpi-output-does-not-parse]
NOTES: note: it is not your program's fault
NOTES: note: candidate function template not viable
