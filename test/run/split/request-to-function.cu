// Requests passed to device functions, by pointer, reference and in a struct: made in one, completed in another.
// RUN: %gmpicxx %all-lowerings %s -o %t
// RUN: %each-lowering %ranks 1-3 %t
#include "../Inputs/shape.h"

struct Exchange {
  MPI_Request sending, receiving;
  int tag;
};

__device__ void start(int *data, int next, int previous, Exchange &exchange, int tag) {
  exchange.tag = tag;
  MPI_Irecv(data + 1, 1, MPI_INT, previous, tag, MPI_COMM_WORLD, &exchange.receiving);
  MPI_Isend(data, 1, MPI_INT, next, tag, MPI_COMM_WORLD, &exchange.sending);
}
__device__ int finish(MPI_Request *request) {
  MPI_Status status;
  MPI_Wait(request, &status);
  return *request == MPI_REQUEST_NULL ? status.MPI_TAG : -1;
}
__device__ void finish_both(Exchange &exchange) {
  MPI_Request both[2] = {exchange.sending, exchange.receiving};
  MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
}

__global__ void exchanges(int *out, int *data, int rank, int next, int previous) {
  int thread = blockIdx.x * blockDim.x + threadIdx.x, kept = 3 * thread;
  Exchange exchange;
  if (thread == 0)
    data[0] = rank;
  MPI_Barrier(MPI_COMM_WORLD);
  start(data, next, previous, exchange, 30);
  MPI_Barrier(MPI_COMM_WORLD);
  kept += finish(&exchange.receiving) + data[1];
  MPI_Wait(&exchange.sending, MPI_STATUS_IGNORE);
  for (int i = 0; i < 2; ++i) {
    start(data, next, previous, exchange, i);
    MPI_Barrier(MPI_COMM_WORLD);
    finish_both(exchange);
    kept += 10 * data[1] + exchange.tag;
  }
  out[thread] = kept;
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  test::Array<int> data(2, -1);
  test::check_shape<int>(
      "request-to-function",
      [&](int *out, int blocks, int threads) {
        exchanges<<<blocks, threads>>>(out, data.data(), test::rank, test::next(), test::previous());
      },
      [](int t) { return 3 * t + 30 + 21 * test::previous() + 1; });
  return test::end();
}
