// MPI_PROC_NULL, as a constant and in variables: the calls return at once, touch no buffer, and give
// the status MPI says.
// RUN: %gmpicxx %s -o %t
// RUN: %ranks 1-4 %t
// RUN: env GMPI_PEER=1 %ranks 2-3 %t
#include "Inputs/check.h"

struct Seen {
  int source, tag, count, null;
};

__device__ Seen see(const MPI_Status &status, bool null) {
  int count;
  MPI_Get_count(&status, MPI_INT, &count);
  return {status.MPI_SOURCE, status.MPI_TAG, count, null};
}

__global__ void constant(int *buffer, int n, Seen *seen) {
  MPI_Status status;
  MPI_Send(buffer, n, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
  MPI_Recv(buffer, n, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &status);
  if (blockIdx.x == 0 && threadIdx.x == 0)
    seen[0] = see(status, true);
  MPI_Request requests[2];
  MPI_Irecv(buffer, n, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(buffer, n, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD, &requests[1]);
  MPI_Wait(&requests[0], &status);
  MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
  if (blockIdx.x == 0 && threadIdx.x == 0)
    seen[1] = see(status, requests[0] == MPI_REQUEST_NULL && requests[1] == MPI_REQUEST_NULL);
}

/// A chain that ends at both sides.
__global__ void variable(int *out, int *in, int n, int above, int below, Seen *seen) {
  MPI_Status status;
  MPI_Sendrecv(out, n, MPI_INT, above, 0, in, n, MPI_INT, below, 0, MPI_COMM_WORLD, &status);
  if (blockIdx.x == 0 && threadIdx.x == 0)
    seen[0] = see(status, true);
  MPI_Recv(in + n, n, MPI_INT, above, 1, MPI_COMM_WORLD, &status);
  MPI_Send(out, n, MPI_INT, below, 1, MPI_COMM_WORLD);
  if (blockIdx.x == 0 && threadIdx.x == 0)
    seen[1] = see(status, true);
}

/// The same in both directions, and nothing is said of what comes.
__global__ void both_ways(int *out, int *in, int n, int above, int below) {
  MPI_Sendrecv(out, n, MPI_INT, above, 2, in, n, MPI_INT, below, 2, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  MPI_Sendrecv(out, n, MPI_INT, below, 3, in + n, n, MPI_INT, above, 3, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
}

/// Only thread 0 has anybody to talk to.
__global__ void by_thread(int *out, int *in, int next, int previous) {
  int i = threadIdx.x;
  MPI_Sendrecv(out + i, 1, MPI_INT, i == 0 ? next : MPI_PROC_NULL, i, in + i, 1, MPI_INT,
               i == 0 ? previous : MPI_PROC_NULL, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void expect_seen(const Seen &seen, int source, int tag, int count, const char *what) {
  test::expect(seen.source == source && seen.tag == tag && seen.count == count && seen.null,
               "%s: source %d, tag %d, count %d, requests null: %d", what, seen.source, seen.tag,
               seen.count, seen.null);
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  int n = 20;
  test::Array<int> out(n, 1000 + test::rank), in(2 * n, -1);
  test::Array<Seen> seen(2);
  constant<<<2, 32>>>(in.data(), n, seen.data());
  test::synchronize();
  expect_seen(seen.read()[0], MPI_PROC_NULL, MPI_ANY_TAG, 0, "received from nobody");
  expect_seen(seen.read()[1], MPI_PROC_NULL, MPI_ANY_TAG, 0, "waited for nobody");

  int above = test::rank == 0 ? MPI_PROC_NULL : test::rank - 1;
  int below = test::rank == test::size - 1 ? MPI_PROC_NULL : test::rank + 1;
  variable<<<2, 32>>>(out.data(), in.data(), n, above, below, seen.data());
  test::synchronize();
  expect_seen(seen.read()[0], below, below < 0 ? MPI_ANY_TAG : 0, below < 0 ? 0 : n, "Sendrecv");
  expect_seen(seen.read()[1], above, above < 0 ? MPI_ANY_TAG : 1, above < 0 ? 0 : n, "Recv");
  test::expect_each(
      in, [&](int i) { int peer = i < n ? below : above; return peer < 0 ? -1 : 1000 + peer; }, "in");

  for (int length : {1, 20, 3000, 40000})
    for (int blocks : {1, 3}) {
      test::Array<int> from(length, 1000 + test::rank), to(2 * length, -1);
      both_ways<<<blocks, 64>>>(from.data(), to.data(), length, above, below);
      test::synchronize();
      test::expect_each(
          to,
          [&](int i) { int peer = i < length ? below : above; return peer < 0 ? -1 : 1000 + peer; },
          "both ways");
    }

  test::Array<int> mine(32, test::rank), theirs(32, -1);
  by_thread<<<1, 32>>>(mine.data(), theirs.data(), test::next(), test::previous());
  test::synchronize();
  test::expect_each(theirs, [](int i) { return i == 0 ? test::previous() : -1; }, "theirs");
  return test::end();
}
