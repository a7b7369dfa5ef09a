// Requests that are made in one place and completed in another: in a later kernel, by MPI_Wait,
// MPI_Waitall and MPI_Test on the host; and the host's own requests, completed in a kernel.
// RUN: %gmpicxx %s -o %t
// RUN: %ranks 1-4 %t
#include "Inputs/check.h"

__global__ void start(int *out, int *in, int n, int rank, int next, int previous, MPI_Request *requests) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    out[i] = 100 * rank + i;
  MPI_Irecv(in, n, MPI_INT, previous, 0, MPI_COMM_WORLD, requests);
  MPI_Isend(out, n, MPI_INT, next, 0, MPI_COMM_WORLD, requests + 1);
}

__global__ void finish(int *in, int n, MPI_Request *requests) {
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    in[i] += 1;
}

__global__ void wait_for(MPI_Request *requests, int *seen) {
  MPI_Status status;
  int count, done = 0;
  MPI_Wait(requests, &status);
  MPI_Get_count(&status, MPI_INT, &count);
  while (!done)
    MPI_Test(requests + 1, &done, MPI_STATUS_IGNORE);
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    seen[0] = status.MPI_SOURCE;
    seen[1] = status.MPI_TAG;
    seen[2] = count;
    seen[3] = requests[0] == MPI_REQUEST_NULL && requests[1] == MPI_REQUEST_NULL;
  }
}

static void check(int n) {
  test::Array<int> out(n), in(n);
  test::Array<MPI_Request> requests(2, MPI_REQUEST_NULL);
  auto begin = [&] {
    in.write(std::vector<int>(n, -1));
    start<<<2, 32>>>(out.data(), in.data(), n, test::rank, test::next(), test::previous(), requests.data());
  };
  auto expect_received = [&](int added, const char *what) {
    test::expect_each(in, [&](int i) { return 100 * test::previous() + i + added; }, what);
  };

  begin();
  finish<<<3, 20>>>(in.data(), n, requests.data());
  test::synchronize();
  expect_received(1, "finished in a later kernel");

  begin();
  test::synchronize();
  std::vector<MPI_Request> host = requests.read();
  MPI_Status status;
  int count = 0;
  MPI_Wait(&host[0], &status);
  MPI_Get_count(&status, MPI_INT, &count);
  MPI_Wait(&host[1], MPI_STATUS_IGNORE);
  test::expect(status.MPI_SOURCE == test::previous() && status.MPI_TAG == 0 && count == n,
               "MPI_Wait: source %d, tag %d, count %d", status.MPI_SOURCE, status.MPI_TAG, count);
  test::expect(host[0] == MPI_REQUEST_NULL && host[1] == MPI_REQUEST_NULL, "requests are not null");
  expect_received(0, "finished by MPI_Wait");

  begin();
  test::synchronize();
  host = requests.read();
  MPI_Waitall(2, host.data(), MPI_STATUSES_IGNORE);
  expect_received(0, "finished by MPI_Waitall");

  begin();
  test::synchronize();
  host = requests.read();
  for (int done = 0; !done;)
    MPI_Test(&host[1], &done, MPI_STATUS_IGNORE);
  for (int done = 0; !done;)
    MPI_Test(&host[0], &done, MPI_STATUS_IGNORE);
  expect_received(0, "finished by MPI_Test");
}

static void check_the_hosts(int n) {
  std::vector<int> out(n, test::rank), in(n, -1);
  std::vector<MPI_Request> host(2);
  MPI_Irecv(in.data(), n, MPI_INT, test::previous(), 9, MPI_COMM_WORLD, &host[0]);
  MPI_Isend(out.data(), n / 2, MPI_INT, test::next(), 9, MPI_COMM_WORLD, &host[1]);
  test::Array<MPI_Request> requests(2);
  requests.write(host);
  test::Array<int> seen(4, -1);
  wait_for<<<2, 32>>>(requests.data(), seen.data());
  test::synchronize();
  int wanted[] = {test::previous(), 9, n / 2, 1};
  test::expect_each(seen, [&](int i) { return wanted[i]; }, "seen");
  for (int i = 0; i < n; ++i)
    test::expect_equal(in[i], i < n / 2 ? test::previous() : -1, "received by the host's request");
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  for (int n : {50, 30000}) {
    check(n);
    check_the_hosts(n);
  }
  for (int i = 0; i < 100; ++i) // more requests than there are slots: none is lost
    check(1);
  return test::end();
}
