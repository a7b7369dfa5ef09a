// A call that one thread makes for itself is a suspension of that thread alone: what lives across it is
// each thread's own, __shared__ memory is saved by those who meet, and segments may be that thread's.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: %gmpi-translate --lower=split --cuda-path=none in.cu -o out.cu --remarks 2>&1 | FileCheck --check-prefix=REMARK --implicit-check-not="with the queue" check
// RUN: FileCheck --input-file=out.cu check --implicit-check-not=Participant
// RUN: %compile-cuda out.cu
// RUN: %gmpi-translate --lower=split --device=cpu in.cu -o cpu.cu
// RUN: %compile-cpu cpu.cu

//--- in.cu
#include <mpi.h>
#include <cooperative_groups.h>
__global__ void turns(int *buf, int steps) {
  __shared__ int tile[32];
  tile[threadIdx.x] = buf[0];
  int got = 0;
  for (int s = 0; s < steps; ++s) {
    if (threadIdx.x == 0 && blockIdx.x == 0)
      MPI_Recv(&got, 1, MPI_INT, 1, s, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    cooperative_groups::this_grid().sync();
    buf[s] = tile[0] + got;
  }
}
__device__ int ask(int *buf, bool first) {
  int error = 0;
  if (first)
    error = MPI_Send(buf, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
  return error;
}
__global__ void at_the_end(int *buf) {
  const int thread = blockIdx.x * blockDim.x + threadIdx.x;
  buf[thread] = ask(buf, thread == 0);
}
__global__ void of_the_whole_grid(int *buf) {
  __shared__ int tile[32];
  tile[threadIdx.x] = buf[0];
  MPI_Barrier(MPI_COMM_WORLD);
  buf[0] = tile[0];
}
int main() {
  turns<<<1, 32>>>(nullptr, 3);
  at_the_end<<<1, 32>>>(nullptr);
  of_the_whole_grid<<<1, 32>>>(nullptr);
}
//--- check
CHECK: template <int gmpi_resume> __global__ void turns__segment(::gmpi::Segment gmpi_segment, int *buf, int steps) { {{.*}} if (gmpi_frame.absent()) return;
CHECK: int s = gmpi_re ? gmpi_frame.saved<decltype(s), {{[0-9]+}}, 4>() : (0);
CHECK: if (!gmpi_re || gmpi_resume == 1) { if (gmpi_re ? true : static_cast<bool>(threadIdx.x == 0 && blockIdx.x == 0))
CHECK-NEXT: if (::gmpi::split::single::MPI_Recv<1>(gmpi_frame, gmpi_re, {{.*}} 9}, &got, 1, MPI_INT, 1, s, MPI_COMM_WORLD, MPI_STATUS_IGNORE)) { gmpi_frame.save_shared<{{[0-9]+}}, 128, true>(tile); gmpi_frame.save<{{[0-9]+}}, 4>(got); gmpi_frame.save<{{[0-9]+}}, 4>(s); return;
CHECK-NEXT: if (gmpi_re && !gmpi_frame.alone()) { gmpi_frame.restore_shared<{{[0-9]+}}, 128>(tile); } if (::gmpi::split::grid_sync<2>(gmpi_frame, gmpi_re)) { gmpi_frame.save_shared<{{[0-9]+}}, 128, true>(tile); gmpi_frame.save<{{[0-9]+}}, 4>(got); gmpi_frame.save<{{[0-9]+}}, 4>(s); return;
CHECK: turns__split() { return ::gmpi::split_kernel({0, 128, {{[0-9]+}}, true, false}, turns__segment<0>, turns__segment<1>, turns__segment<2>);
CHECK: bool ask__segment(
CHECK: ::gmpi::split::single::MPI_Send<1>(gmpi_frame, gmpi_re, {{.*}} 17}, buf, 1, MPI_INT, 1, 0, MPI_COMM_WORLD)) { {{.*}}return true;
CHECK: at_the_end__segment({{.*}} if (gmpi_frame.absent()) return;
CHECK: void of_the_whole_grid__segment({{.*}} bool gmpi_re = gmpi_resume != 0;
CHECK-NOT: absent
CHECK: ::gmpi::split::MPI_Barrier<1>(
REMARK: in.cu:9: MPI_Recv: thread scope, split: under `{{.*}}` (line 8): one thread of the grid; live across: tile (shared: {{.*}}), got (spilled: {{.*}}), s (spilled: it is changed)
REMARK: in.cu:10: barrier of the grid: grid scope, split; live across: tile (shared: {{.*}}), got (spilled: it is changed), s (spilled: it is changed)
REMARK: in.cu:17: MPI_Send: thread scope, split: {{.*}}; live across: buf (spilled: {{.*}}), error (spilled: it is changed)
REMARK: in.cu:22: call of 'ask': thread scope, split: it suspends within; live across: thread (recomputed)
