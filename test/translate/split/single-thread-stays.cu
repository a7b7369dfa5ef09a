// One thread's calls that stay with the queue, and why, in the user's terms; kernels that have no others
// are not split. Where the thread has to do with others before the grid meets, where others may wait for
// it, where it is not one thread.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: %gmpi-translate --lower=split --cuda-path=none in.cu -o out.cu --remarks --report=out.json > said 2>&1
// RUN: FileCheck --input-file=said --check-prefix=REMARK --implicit-check-not="split: " check
// RUN: FileCheck --input-file=out.json --check-prefix=JSON check
// RUN: FileCheck --input-file=out.cu --implicit-check-not=split:: check
// RUN: %compile-cuda -rdc=true out.cu

//--- in.cu
#include <mpi.h>
#include <cooperative_groups.h>
#define FIRST threadIdx.x == 0 && blockIdx.x == 0
__device__ void opaque(int *buf);
__device__ int looks(int *flag) { return atomicAdd(flag, 0); }

__global__ void barrier(int *buf) {
  if (FIRST)
    MPI_Send(buf, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
  __syncthreads();
}
__global__ void barrier_of_the_next_turn(int *buf) {
  for (int i = 0; i < 3; ++i) {
    __syncthreads();
    if (FIRST)
      MPI_Send(buf, 1, MPI_INT, 2, 0, MPI_COMM_WORLD);
  }
}
__global__ void warp(int *buf) {
  if (FIRST)
    MPI_Send(buf, 1, MPI_INT, 3, 0, MPI_COMM_WORLD);
  buf[0] = __shfl_sync(~0u, buf[1], 0);
}
__global__ void group(int *buf) {
  if (FIRST)
    MPI_Send(buf, 1, MPI_INT, 4, 0, MPI_COMM_WORLD);
  cooperative_groups::this_thread_block().sync();
}
__global__ void shared(int *buf) {
  __shared__ int tile[4];
  if (FIRST)
    MPI_Send(buf, 1, MPI_INT, 5, 0, MPI_COMM_WORLD);
  tile[0] = buf[0];
}
__global__ void sent_from_shared(int *buf) {
  __shared__ int tile[4];
  if (FIRST)
    MPI_Send(tile, 1, MPI_INT, 6, 0, MPI_COMM_WORLD);
}
__global__ void assembly(int *buf) {
  if (FIRST)
    MPI_Send(buf, 1, MPI_INT, 7, 0, MPI_COMM_WORLD);
  asm volatile("// nothing");
}
__global__ void volatile_flag(volatile int *flag, int *buf) {
  if (FIRST) {
    MPI_Send(buf, 1, MPI_INT, 8, 0, MPI_COMM_WORLD);
    *flag = 1;
  }
}
__global__ void spin_beside(int *flag, int *buf) {
  if (FIRST) {
    MPI_Recv(buf, 1, MPI_INT, 9, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    flag[0] = 1;
  } else {
    while (looks(flag) == 0)
      ;
  }
}
__global__ void plain_spin(int *flag, int *buf) {
  if (FIRST)
    MPI_Recv(buf, 1, MPI_INT, 10, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  while (*flag == 0)
    ;
}
__global__ void body_elsewhere(int *buf) {
  opaque(buf);
  if (FIRST)
    MPI_Send(buf, 1, MPI_INT, 11, 0, MPI_COMM_WORLD);
}
__global__ void two_threads(int *buf) {
  if (threadIdx.x == 0 && blockIdx.x == 0)
    MPI_Send(buf, 1, MPI_INT, 12, 0, MPI_COMM_WORLD);
  if (threadIdx.x == 1 && blockIdx.x == 0)
    MPI_Recv(buf, 1, MPI_INT, 13, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
__global__ void each_in_its_turn(int *buf) {
  for (int i = 0; i < 4; ++i)
    if (threadIdx.x == i && blockIdx.x == 0)
      MPI_Send(buf, 1, MPI_INT, 14, 0, MPI_COMM_WORLD);
}
__global__ void blocks_wait(int *buf) {
  if (FIRST)
    MPI_Send(buf, 1, MPI_INT, 15, 0, MPI_COMM_WORLD);
  MPI_Recv(buf + blockIdx.x, 1, MPI_INT, 16, blockIdx.x, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
__global__ void receive_later(int *buf) {
  int got;
  MPI_Request request;
  if (FIRST) {
    MPI_Irecv(&got, 1, MPI_INT, 17, 0, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    buf[0] = got;
  }
}
__global__ void in_lambda(int *buf) {
  auto send = [&] {
    if (FIRST)
      MPI_Send(buf, 1, MPI_INT, 18, 0, MPI_COMM_WORLD);
  };
  send();
}
struct NotCopied {
  int value = 0;
  __device__ NotCopied() {}
  __device__ NotCopied(const NotCopied &) {}
};
__global__ void variable_of_a_class(int *buf) {
  NotCopied kept;
  if (FIRST)
    MPI_Send(buf, 1, MPI_INT, 19, 0, MPI_COMM_WORLD);
  buf[0] = kept.value;
}
__global__ void behind_a_label(int *buf) {
again:
  if (FIRST)
    MPI_Send(buf, 1, MPI_INT, 20, 0, MPI_COMM_WORLD);
  if (buf[0]++ < 3)
    goto again;
}
__global__ void others_write_and_end(int *buf) {
  __shared__ int tile[4];
  if (FIRST)
    MPI_Send(buf, 1, MPI_INT, 20, 0, MPI_COMM_WORLD);
  else if (threadIdx.x == 1) {
    tile[0] = 1;
    return;
  }
  cooperative_groups::this_grid().sync();
  buf[0] = tile[0];
}
//--- check
REMARK: in.cu:7: kernel 'barrier' stays with the queue: it makes no MPI call at which to split it
REMARK: in.cu:9: MPI_Send: thread scope, queue: {{.*}}; it stays with the queue: before the grid meets again there is '__syncthreads' (line 10)
REMARK: in.cu:16: {{.*}}; it stays with the queue: before the grid meets again there is '__syncthreads' (line 14)
REMARK: in.cu:21: {{.*}}: before the grid meets again there is '__shfl_sync' (line 22)
REMARK: in.cu:26: {{.*}}: before the grid meets again there is 'sync' (line 27)
REMARK: in.cu:32: {{.*}}: before the grid meets again there is `tile` in __shared__ memory (line 33)
REMARK: in.cu:38: {{.*}}: its arguments lead to __shared__ memory, which is another one in each segment
REMARK: in.cu:42: {{.*}}: before the grid meets again there is inline assembly (line 43)
REMARK: in.cu:47: {{.*}}: before the grid meets again there is a volatile access (line 48)
REMARK: in.cu:53: {{.*}}: other threads may wait for its thread: there is a loop with 'atomicAdd' (line 5)
REMARK: in.cu:62: {{.*}}: before the grid meets again there is a loop with memory in its condition (line 63)
REMARK: in.cu:69: {{.*}}: other threads may wait for its thread: there is a call of 'opaque', whose body is not known (line 67)
REMARK: in.cu:73: {{.*}}: others may wait for it in MPI_Recv (line 75), which stays with the queue
REMARK: in.cu:75: {{.*}}: another thread may be in MPI_Send (line 73) at the same time
REMARK: in.cu:80: {{.*}}: it is not always one and the same thread of the grid that makes it
REMARK: in.cu:84: {{.*}}: others may wait for it in MPI_Recv (line 85), which stays with the queue
REMARK: in.cu:85: MPI_Recv: block scope, queue: {{.*}}; it stays with the queue: a block makes it, not one thread of the grid
REMARK: in.cu:91: {{.*}}: `got` is a local variable, and has its place in one segment only
REMARK: in.cu:92: {{.*}}: others may wait for it in MPI_Irecv (line 91), which stays with the queue
REMARK: in.cu:99: {{.*}}: it stands in a lambda or another function that cannot suspend
REMARK: in.cu:111: {{.*}}: kernel 'variable_of_a_class' cannot be split there
REMARK: in.cu:117: {{.*}}: kernel 'behind_a_label' cannot be split there
REMARK: in.cu:124: {{.*}}: other threads of its block may write to `tile` in __shared__ memory (line 126) meanwhile, and end before the grid meets again
JSON: "notSplit": "before the grid meets again there is '__syncthreads' (line 10)"
CHECK: void GMPI_KERNEL_REGISTERS barrier__queue(
