// Hundreds of requests under way at a time, waited for out of order; messages of one sender keep their
// order, small and large ones mixed.
// RUN: %gmpicxx %s -o %t
// RUN: %ranks 1-4 %t
// RUN: env GMPI_PEER=1 %ranks 2-3 %t
#include "Inputs/check.h"

__global__ void outstanding(int *out, int *in, int n, MPI_Request *requests, int rank, int next,
                            int previous) {
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    if (blockIdx.x == 0)
      out[i] = 1000 * rank + i;
  for (int i = 0; i < n; ++i)
    MPI_Irecv(in + i, 1, MPI_INT, previous, i, MPI_COMM_WORLD, requests + i);
  for (int i = n - 1; i >= 0; --i)
    MPI_Isend(out + i, 1, MPI_INT, next, i, MPI_COMM_WORLD, requests + n + i);
  for (int i = 0; i < n; ++i)
    MPI_Wait(requests + (i * 7) % n, MPI_STATUS_IGNORE);
  MPI_Waitall(n, requests + n, MPI_STATUSES_IGNORE);
}

/// 64 threads, 4 receives each.
__global__ void by_thread(int *out, int *in, int rank, int next, int previous) {
  int first = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
  MPI_Request receives[4];
  for (int i = 0; i < 4; ++i) {
    out[first + i] = 1000 * rank + first + i;
    MPI_Irecv(in + first + i, 1, MPI_INT, previous, first + i, MPI_COMM_WORLD, &receives[i]);
  }
  for (int i = 3; i >= 0; --i)
    MPI_Send(out + first + i, 1, MPI_INT, next, first + i, MPI_COMM_WORLD);
  for (int i = 0; i < 4; ++i)
    MPI_Wait(&receives[(i + 2) % 4], MPI_STATUS_IGNORE);
}

/// Message i has its number in front; every third is too long to lie beside its request.
__global__ void in_order(int *buffer, int *next_buffer, int messages, int long_message, int *wrong,
                         int next, int previous) {
  int errors = 0;
  for (int i = 0; i < messages; ++i) {
    int n = i % 3 == 0 ? long_message : 1 + i % 5;
    if (blockIdx.x == 0 && threadIdx.x == 0)
      buffer[0] = i;
    MPI_Request receive;
    MPI_Irecv(next_buffer, long_message, MPI_INT, previous, 0, MPI_COMM_WORLD, &receive);
    MPI_Send(buffer, n, MPI_INT, next, 0, MPI_COMM_WORLD);
    MPI_Wait(&receive, MPI_STATUS_IGNORE);
    errors += next_buffer[0] != i;
  }
  if (blockIdx.x == 0 && threadIdx.x == 0)
    *wrong = errors;
}

/// Far more sends than the queue has room for, before the first receive.
__global__ void ahead(int *value, int messages, int *wrong, int rank) {
  int errors = 0;
  for (int i = 0; i < messages; ++i) {
    if (rank == 0)
      MPI_Send(&i, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    if (rank == 1) {
      int got;
      MPI_Recv(&got, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      errors += got != i;
    }
  }
  if (blockIdx.x == 0 && threadIdx.x == 0)
    *wrong = errors;
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  int n = 300, rank = test::rank;
  test::Array<int> out(n), in(n, -1), wrong(1, -1), number(1);
  test::Array<MPI_Request> requests(2 * n, MPI_REQUEST_NULL);
  outstanding<<<2, 32>>>(out.data(), in.data(), n, requests.data(), rank, test::next(), test::previous());
  test::synchronize();
  test::expect_each(in, [](int i) { return 1000 * test::previous() + i; }, "outstanding");
  for (MPI_Request request : requests.read())
    test::expect(request == MPI_REQUEST_NULL, "a request is not null after its wait");

  in.write(std::vector<int>(n, -1));
  by_thread<<<2, 32>>>(out.data(), in.data(), rank, test::next(), test::previous());
  test::synchronize();
  test::expect_each(in, [](int i) { return i < 256 ? 1000 * test::previous() + i : -1; }, "by_thread");

  test::Array<int> buffer(20000), next_buffer(20000);
  in_order<<<2, 32>>>(buffer.data(), next_buffer.data(), 60, 20000, wrong.data(), test::next(),
                      test::previous());
  test::synchronize();
  test::expect_equal(wrong.read()[0], 0, "messages out of order");

  if (test::size > 1) {
    ahead<<<1, 32>>>(number.data(), 700, wrong.data(), rank);
    test::synchronize();
    test::expect_equal(wrong.read()[0], 0, "messages out of order");
  }
  return test::end();
}
