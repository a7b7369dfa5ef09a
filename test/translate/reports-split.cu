// With --lower=split, --remarks and --report tell what lives across each call, how it is kept and why.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: %gmpi-translate --cuda-path=none --lower=queue,split in.cu -o out.cu --remarks --report=out.json 2>&1 | FileCheck --check-prefix=REMARK check
// RUN: FileCheck --check-prefix=JSON --input-file=out.json check
// RUN: %compile-cuda out.cu

//--- in.cu
#include <mpi.h>
__device__ void f(MPI_Comm comm) { MPI_Barrier(comm); }
__device__ void use(double *x);
__global__ void k(double *p, int n) {
  int i = threadIdx.x;
  double sum = p[i], kept = p[i + 1];
  __shared__ double tile[4];
  for (int s = 0; s < n; ++s) {
    tile[i] = s;
    MPI_Bcast(p, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    sum += p[i] * tile[i];
  }
  f(MPI_COMM_WORLD);
  double *where = &kept;
  MPI_Barrier(MPI_COMM_WORLD);
  p[i] = sum + *where;
}
__global__ void alone(double *p) {
  if (threadIdx.x == 0 && blockIdx.x == 0)
    MPI_Send(p, 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
}
__global__ void blocks(double *p) { MPI_Send(p + blockIdx.x, 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD); }
//--- check
REMARK: in.cu:22: kernel 'blocks' stays with the queue: it makes no MPI call at which to split it
REMARK: in.cu:2: MPI_Barrier: grid scope, queue + split: {{.*}}; live across: comm (uniform: {{.*}})
REMARK: in.cu:10: MPI_Bcast: grid scope, queue + split: control and arguments are the same for all threads; live across: i (recomputed), sum (spilled: it is changed), kept (frame-resident: its address is taken), tile (shared: its block's threads share it), s (uniform: it is changed, the same way in all threads)
REMARK: in.cu:13: call of 'f': grid scope, queue + split: it suspends within; live across: i (recomputed), sum (spilled: it is changed), kept (frame-resident: its address is taken)
REMARK: in.cu:15: MPI_Barrier: {{.*}}where (spilled: its value cannot be computed again)
REMARK: in.cu:20: MPI_Send: thread scope, queue + split: under {{.*}}: one thread of the grid; nothing is live across
REMARK: in.cu:22: MPI_Send: block scope, queue: {{.*}}; it stays with the queue: a block makes it, not one thread of the grid
JSON: "function": "MPI_Bcast"
JSON: "liveAcross": [
JSON: "bytes": 0,
JSON-NEXT: "kept": "recomputed",
JSON-NEXT: "name": "i",
JSON: "kept": "uniform",
JSON-NEXT: "name": "s",
JSON: "frame": {
JSON-NEXT: "perBlock": 32,
JSON: "lowerings": [
JSON-NEXT: "queue",
JSON-NEXT: "split"
JSON: "segments": 4,
