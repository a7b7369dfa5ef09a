// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: not %gmpi-translate --cuda-path=none in.cu -o out.cu 2>&1 | FileCheck --implicit-check-not=error: check

//--- in.cu
#include <mpi.h>
template <class T> __global__ void elsewhere(T n);
int main() { elsewhere<<<1, 1>>>(1); }
//--- check
CHECK: in.cu:3:14: error: kernel template 'elsewhere' is defined elsewhere, so this launch must give its template arguments [gmpi-launch-needs-arguments]
CHECK: note: write them out, as in elsewhere<int><<<...>>>, or include the kernel's definition
