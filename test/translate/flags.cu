// The flags of nvcc and of host compilers, as builds give them.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: %gmpi-translate --cuda-path=none in.cu -o out.cu -- -gencode arch=compute_80,code=sm_80 -gencode=arch=compute_90,code=[sm_90,compute_90] --generate-code=arch=compute_90,code=sm_90 -arch=sm_90 --expt-relaxed-constexpr --extended-lambda -rdc=true -Xcompiler -Wall,-fPIC -Xcompiler=-DFROM_HOST=1 -Xcompiler -iquote -Xcompiler sub --options-file more.txt -x cu -ccbin g++ -G -lineinfo -O3 -g -std c++17 -MD -MF x.d -MT x -c -maxrregcount=32 --ptxas-options=-v -Xptxas -v -t0 --threads 2 -use_fast_math -diag-suppress 20012 -Werror all-warnings -forward-unknown-to-host-compiler -Wno-unused -L/nowhere -lm -D DEFINED -UUNDEFINED
// RUN: FileCheck --input-file=out.cu check
// RUN: %compile-cuda -DFROM_HOST=1 -DFROM_FILE=1 -DDEFINED --extended-lambda -Isub out.cu

//--- in.cu
#include <mpi.h>
#include "quoted.h"
#if !FROM_HOST || !FROM_FILE || !defined DEFINED || __cplusplus != 201703L || !defined __CUDACC_EXTENDED_LAMBDA__
#error flags are missing
#endif
#if defined __CUDA_ARCH__ && defined __clang__ // what is read, not what is compiled below
static_assert(__CUDA_ARCH__ == 800, "the first architecture named");
#endif
__global__ void k() { MPI_Barrier(MPI_COMM_WORLD); }
//--- more.txt
-DFROM_FILE=1
--include-path sub
//--- sub/quoted.h
//--- check
CHECK: ::gmpi::grid::MPI_Barrier(
