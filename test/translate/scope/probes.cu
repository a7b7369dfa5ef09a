// What a probe tells is as uniform as the call is wide: the receive behind it is made by as many. Where
// MPI_Iprobe finds nothing, the status stays what it was.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: %gmpi-translate --cuda-path=none in.cu -o out.cu --remarks 2>&1 | FileCheck check --implicit-check-not=in.cu:
// RUN: FileCheck --input-file=out.cu text
// RUN: %compile-cuda out.cu
// RUN: %compile-cuda-openmpi out.cu
// RUN: %gmpi-translate --device=cpu in.cu -o cpu.cu --remarks 2>&1 | FileCheck check --implicit-check-not=in.cu:
// RUN: %compile-cpu cpu.cu

//--- in.cu
#include <mpi.h>
__global__ void k(int *buf, int left, int *flags) {
  MPI_Status status;
  int flag, count;
  do
    MPI_Iprobe(left, 0, MPI_COMM_WORLD, &flag, &status);
  while (!flag);
  MPI_Get_count(&status, MPI_INT, &count);
  MPI_Recv(buf, count, MPI_INT, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Probe(left, int(blockIdx.x), MPI_COMM_WORLD, &status);
  MPI_Get_count(&status, MPI_INT, &count);
  MPI_Recv(buf, count, MPI_INT, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Probe(left, 2, MPI_COMM_WORLD, &status);
  MPI_Recv(buf, 1, MPI_INT, left, status.MPI_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  status.MPI_TAG = int(threadIdx.x);
  MPI_Iprobe(left, 3, MPI_COMM_WORLD, &flag, &status);
  if (flag)
    MPI_Barrier(MPI_COMM_WORLD);
  MPI_Recv(buf, 1, MPI_INT, left, status.MPI_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (threadIdx.x < 5)
    MPI_Iprobe(left, int(threadIdx.x), MPI_COMM_WORLD, flags + threadIdx.x, MPI_STATUS_IGNORE);
}
//--- check
CHECK: in.cu:6: MPI_Iprobe: grid scope, queue: control and arguments are the same for all threads{{$}}
CHECK-NEXT: in.cu:8: MPI_Get_count: local, answered on the device: it asks nobody else{{$}}
CHECK-NEXT: in.cu:9: MPI_Recv: grid scope, queue: control and arguments are the same for all threads{{$}}
CHECK-NEXT: in.cu:10: MPI_Probe: block scope, queue: `int(blockIdx.x)` depends on `blockIdx.x` (line 10){{$}}
CHECK-NEXT: in.cu:11: MPI_Get_count: local, answered on the device: it asks nobody else{{$}}
CHECK-NEXT: in.cu:12: MPI_Recv: block scope, queue: `count` depends on `MPI_Probe` (line 10), which is called once for each block{{$}}
CHECK-NEXT: in.cu:13: MPI_Probe: grid scope, queue: control and arguments are the same for all threads{{$}}
CHECK-NEXT: in.cu:14: MPI_Recv: grid scope, queue: control and arguments are the same for all threads{{$}}
CHECK-NEXT: in.cu:16: MPI_Iprobe: grid scope, queue: control and arguments are the same for all threads{{$}}
CHECK-NEXT: in.cu:18: MPI_Barrier: grid scope, queue: control and arguments are the same for all threads{{$}}
CHECK-NEXT: in.cu:19: MPI_Recv: thread scope, queue: `status.MPI_TAG` depends on `threadIdx.x` (line 15){{$}}
CHECK-NEXT: in.cu:21: MPI_Iprobe: thread scope, queue: `int(threadIdx.x)` depends on `threadIdx.x` (line 21){{$}}
//--- text
CHECK: ::gmpi::grid::MPI_Iprobe({{.*}} 6}, left, 0, MPI_COMM_WORLD, &flag, &status);
CHECK: ::gmpi::block::MPI_Probe({{.*}} 10}, left, int(blockIdx.x), MPI_COMM_WORLD, &status);
CHECK: ::gmpi::grid::MPI_Probe({{.*}} 13}, left, 2, MPI_COMM_WORLD, &status);
CHECK: ::gmpi::thread::MPI_Iprobe({{.*}} 21}, left, int(threadIdx.x), MPI_COMM_WORLD, flags + threadIdx.x, MPI_STATUS_IGNORE);
