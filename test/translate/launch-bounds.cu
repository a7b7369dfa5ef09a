// Kernels whose launch bounds leave few registers have the functions behind their MPI calls for themselves: nvcc gives
// these no more registers then. Bounds that are not known yet may leave few.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: %gmpi-translate --cuda-path=none threads.cu -o out.cu && FileCheck --check-prefix=FEW --input-file=out.cu check
// RUN: %assemble-cuda out.cu
// RUN: %gmpi-translate --cuda-path=none blocks.cu -o out.cu && FileCheck --check-prefix=FEW --input-file=out.cu check
// RUN: %compile-cuda out.cu
// RUN: %gmpi-translate --cuda-path=none dependent.cu -o out.cu && FileCheck --check-prefix=FEW --input-file=out.cu check
// RUN: %compile-cuda out.cu
// RUN: %gmpi-translate --cuda-path=none enough.cu -o out.cu && FileCheck --check-prefix=ENOUGH --input-file=out.cu check
// RUN: %compile-cuda out.cu
// A kernel without them may have as many registers as its calls need, unless the user says otherwise.
// RUN: %gmpi-translate --cuda-path=none none.cu -o out.cu && FileCheck --check-prefix=NONE --input-file=out.cu check
// RUN: %assemble-cuda -Werror all-warnings -Xptxas -v out.cu
// RUN: %compile-cuda -DGMPI_KERNEL_REGISTERS= out.cu
// Nor does it take more where nvcc compiles for another architecture, whatever it makes of these functions there.
// RUN: %gmpi-translate --cuda-path=none other.cu -o out.cu
// RUN: %assemble-cuda -arch=sm_80 -Werror all-warnings out.cu
// RUN: %assemble-cuda -arch=sm_100 -Werror all-warnings out.cu

//--- threads.cu
#include <mpi.h>
__global__ void __launch_bounds__(1024) k(int *data, int n) { MPI_Send(data, n, MPI_INT, 0, 0, MPI_COMM_WORLD); }
//--- blocks.cu
#include <mpi.h>
__global__ void __launch_bounds__(256, 4) k(int *data, int n);
__global__ void k(int *data, int n) { MPI_Send(data, n, MPI_INT, 0, 0, MPI_COMM_WORLD); }
//--- dependent.cu
#include <mpi.h>
template <int N> __global__ void __launch_bounds__(N) k(int *data) { MPI_Send(data, N, MPI_INT, 0, 0, MPI_COMM_WORLD); }
void launch(int *data) { k<1024><<<1, 1024>>>(data); }
//--- enough.cu
#include <mpi.h>
constexpr int threads = 256;
__global__ void __launch_bounds__(threads, 2) k(int *data, int n) { MPI_Send(data, n, MPI_INT, 0, 0, MPI_COMM_WORLD); }
__global__ void __launch_bounds__(1024) without(int *data) { *data = 1; }
//--- none.cu
#include <mpi.h>
__global__ void k(int *data, int n) { MPI_Send(data, n, MPI_INT, 0, 0, MPI_COMM_WORLD); }
__global__ void __launch_bounds__(256, 2) bound(int *data, int n) { MPI_Send(data, n, MPI_INT, 0, 0, MPI_COMM_WORLD); }
#define KERNEL(name) __global__ void name
KERNEL(argument)(int *data, int n) { MPI_Send(data, n, MPI_INT, 0, 0, MPI_COMM_WORLD); }
//--- other.cu
#include <mpi.h>
__global__ void k(int *data, int n) { MPI_Recv(data, n, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); }
__global__ void __launch_bounds__(256, 2) bound(int *data, int n) { MPI_Bcast(data, n, MPI_INT, 0, MPI_COMM_WORLD); }
//--- check
FEW: #define GMPI_FEW_REGISTERS
FEW-NEXT: #include <gmpi/gmpi.hpp>
ENOUGH-NOT: GMPI_FEW_REGISTERS
NONE: __global__ void GMPI_KERNEL_REGISTERS k__queue(
NONE: __launch_bounds__(256, 2) bound__queue(
NONE: KERNEL(argument__queue)(
