// MPI_Status read in the kernel: source, tag and count of what wildcards received, of MPI_Waitall's
// requests, of MPI_Test's, and of messages shorter than the buffer.
// RUN: %gmpicxx %s -o %t
// RUN: %ranks 2-4 %t
// RUN: env GMPI_PEER=1 %ranks 2-3 %t
#include "Inputs/check.h"

struct Seen {
  int source, tag, count, as_bytes, as_pairs;
};

/// Rank 0 receives from whoever comes first, all others send.
__global__ void gather(int rank, int size, double *buffer, Seen *seen) {
  if (rank != 0) {
    MPI_Send(buffer, rank, MPI_DOUBLE, 0, 10 * rank, MPI_COMM_WORLD);
    return;
  }
  for (int i = 1; i < size; ++i) {
    MPI_Status status;
    MPI_Recv(buffer + 8 * i, 8, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    int count, bytes, pairs;
    MPI_Get_count(&status, MPI_DOUBLE, &count);
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    MPI_Get_count(&status, MPI_2INT, &pairs);
    if (blockIdx.x == 0 && threadIdx.x == 0)
      seen[status.MPI_SOURCE] = {status.MPI_SOURCE, status.MPI_TAG, count, bytes, pairs};
  }
}

/// Statuses in global memory, one a request, of requests that end in any order.
__global__ void waitall(int *out, int *in, int n, int next, int previous, MPI_Status *statuses) {
  MPI_Request requests[4];
  MPI_Irecv(in, n, MPI_INT, previous, MPI_ANY_TAG, MPI_COMM_WORLD, requests);
  MPI_Irecv(in + n, n, MPI_INT, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, requests + 1);
  MPI_Isend(out, n / 2, MPI_INT, next, 1, MPI_COMM_WORLD, requests + 2);
  MPI_Isend(out, n / 3, MPI_INT, next, 2, MPI_COMM_WORLD, requests + 3);
  MPI_Waitall(4, requests, statuses);
}

/// Each thread has a status of its own.
__global__ void by_thread(int *out, int *in, int next, int previous, Seen *seen) {
  int i = threadIdx.x;
  MPI_Status status;
  MPI_Request request;
  MPI_Irecv(in + 4 * i, 4, MPI_INT, previous, i, MPI_COMM_WORLD, &request);
  MPI_Send(out, i % 4, MPI_INT, next, i, MPI_COMM_WORLD);
  int done = 0;
  while (!done)
    MPI_Test(&request, &done, &status);
  int count, bytes;
  MPI_Get_count(&status, MPI_INT, &count);
  MPI_Get_count(&status, MPI_CHAR, &bytes);
  seen[i] = {status.MPI_SOURCE, status.MPI_TAG, count, bytes, 0};
}

static void check_gather() {
  test::Array<double> buffer(8 * test::size, test::rank);
  test::Array<Seen> seen(test::size);
  gather<<<2, 32>>>(test::rank, test::size, buffer.data(), seen.data());
  test::synchronize();
  std::vector<Seen> host = seen.read();
  for (int i = 1; test::rank == 0 && i < test::size; ++i)
    test::expect(host[i].source == i && host[i].tag == 10 * i && host[i].count == i &&
                     host[i].as_bytes == 8 * i && host[i].as_pairs == i,
                 "gather from rank %d: source %d, tag %d, count %d, bytes %d, pairs %d", i,
                 host[i].source, host[i].tag, host[i].count, host[i].as_bytes, host[i].as_pairs);
}

static void check_waitall() {
  int n = 60;
  test::Array<int> out(n), in(2 * n);
  test::Array<MPI_Status> statuses(4);
  waitall<<<3, 32>>>(out.data(), in.data(), n, test::next(), test::previous(), statuses.data());
  test::synchronize();
  std::vector<MPI_Status> host = statuses.read();
  for (int i = 0; i < 2; ++i) {
    int count = 0, wanted = i == 0 ? n / 2 : n / 3;
    MPI_Get_count(&host[i], MPI_INT, &count);
    test::expect(host[i].MPI_SOURCE == test::previous() && host[i].MPI_TAG == i + 1 && count == wanted,
                 "waitall %d: source %d, tag %d, count %d", i, host[i].MPI_SOURCE, host[i].MPI_TAG, count);
  }
}

static void check_by_thread() {
  test::Array<int> out(4), in(4 * 32);
  test::Array<Seen> seen(32);
  by_thread<<<1, 32>>>(out.data(), in.data(), test::next(), test::previous(), seen.data());
  test::synchronize();
  std::vector<Seen> host = seen.read();
  for (int i = 0; i < 32; ++i)
    test::expect(host[i].source == test::previous() && host[i].tag == i && host[i].count == i % 4 &&
                     host[i].as_bytes == 4 * (i % 4),
                 "thread %d: source %d, tag %d, count %d", i, host[i].source, host[i].tag, host[i].count);
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  check_gather();
  MPI_Barrier(MPI_COMM_WORLD); // rank 0 takes messages from anybody
  check_waitall();
  MPI_Barrier(MPI_COMM_WORLD);
  check_by_thread();
  return test::end();
}
