// A template that calls itself and suspends for nothing stays whole; its kernel uses the queue for what it sends.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: %gmpi-translate --lower=split --cuda-path=none in.cu -o out.cu
// RUN: FileCheck --implicit-check-not=each__segment --input-file=out.cu check
// RUN: %compile-cuda out.cu

//--- in.cu
#include <mpi.h>
__device__ void send(int *buf, int peer) {
  if (threadIdx.x == 0 && blockIdx.x == 0)
    MPI_Send(buf, 1, MPI_INT, peer, 0, MPI_COMM_WORLD);
}
template <int N> __device__ void each(int *buf, int peer) {
  if constexpr (N > 0)
    each<N - 1>(buf, peer);
  send(buf + N, peer);
}
__global__ void k(int *buf, int peer) {
  MPI_Barrier(MPI_COMM_WORLD);
  each<3>(buf, peer);
}
int main() { k<<<1, 32>>>(nullptr, 0); }
//--- check
CHECK: void k__segment({{.*}} ::gmpi::Participant gmpi_participant(gmpi_segment.launched());
CHECK: each<3>(buf, peer);
