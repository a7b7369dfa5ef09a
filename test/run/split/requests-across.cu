// Nonblocking calls whose Wait comes several calls later, in a later turn of a loop, and by MPI_Test.
// RUN: %gmpicxx %all-lowerings %s -o %t
// RUN: %each-lowering %ranks 1-3 %t
#include "../Inputs/shape.h"

__global__ void later(int *out, int *data, int n, int rank, int next, int previous) {
  int thread = blockIdx.x * blockDim.x + threadIdx.x, kept = thread, sum;
  int *send = data, *receive = data + n;
  MPI_Request sending, receiving, pending = MPI_REQUEST_NULL;
  MPI_Irecv(receive, n, MPI_INT, previous, 1, MPI_COMM_WORLD, &receiving);
  for (int i = thread; i < n; i += gridDim.x * blockDim.x)
    send[i] = 100 * rank + i;
  MPI_Isend(send, n, MPI_INT, next, 1, MPI_COMM_WORLD, &sending);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  kept += sum;
  MPI_Status status;
  MPI_Wait(&receiving, &status);
  kept += 1000 * (status.MPI_SOURCE + 1) + receive[thread % n];
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Wait(&sending, MPI_STATUS_IGNORE);
  for (int turn = 0; turn < 4; ++turn) { // turn's message is waited for in the next
    if (turn > 0)
      MPI_Wait(&pending, MPI_STATUS_IGNORE);
    MPI_Recv(receive, 0, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Isend(send + turn, 1, MPI_INT, next, turn, MPI_COMM_WORLD, &pending);
    MPI_Recv(receive + turn, 1, MPI_INT, previous, turn, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    kept += receive[turn];
  }
  int done = 0;
  while (!done)
    MPI_Test(&pending, &done, MPI_STATUS_IGNORE);
  out[thread] = kept + 5 * (pending == MPI_REQUEST_NULL);
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  for (int n : {20, 20000}) {
    test::Array<int> data(2 * n);
    int p = test::previous();
    test::check_shape<int>(
        "requests-across",
        [&](int *out, int blocks, int threads) {
          later<<<blocks, threads>>>(out, data.data(), n, test::rank, test::next(), test::previous());
        },
        [&](int t) {
          int received = 100 * p + t % n, turns = 4 * 100 * p + 0 + 1 + 2 + 3;
          return t + test::size * (test::size - 1) / 2 + 1000 * (p + 1) + received + turns + 5;
        });
  }
  return test::end();
}
