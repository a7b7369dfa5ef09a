// MPI given device memory: the same results as by way of page-locked memory, from all scopes, around every
// limit, for memory that MPI cannot reach, and between ranks of which one alone does so.
// UNSUPPORTED: gpu && !gpu-aware
// RUN: %gmpicxx %all-lowerings %s -o %t
// RUN: env GMPI_GPU_AWARE=1 %each-lowering %ranks 1-3 %t
// RUN: env GMPI_GPU_AWARE=1 GMPI_GPU_AWARE_KB=100 GMPI_STAGING_MB=1 %each-lowering %ranks 2 %t
// RUN: env GMPI_GPU_AWARE=1 GMPI_STAGING_MB=0 %each-lowering %ranks 2 %t
// RUN: env GMPI_GPU_AWARE=0 %each-lowering %ranks 2 %t
#include "../Inputs/check.h"

__device__ int element(int rank, int i) { return 1000 * rank + i % 997; }
static int wanted(int rank, int i) { return 1000 * rank + i % 997; }

__device__ void fill(int *out, int n, int rank) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    out[i] = element(rank, i);
}

/// Each call's data is written just before, and read just behind it.
__global__ void by_grid(int *out, int *in, int n, int rank, int size, int next, int previous, int *wrong) {
  auto look = [=](int from) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
      if (in[i] != element(from, i))
        *wrong = 1;
  };
  fill(out, n, rank);
  MPI_Status status;
  MPI_Sendrecv(out, n, MPI_INT, next, 0, in, n, MPI_INT, previous, 0, MPI_COMM_WORLD, &status);
  int count;
  MPI_Get_count(&status, MPI_INT, &count);
  if (count != n || status.MPI_SOURCE != previous || status.MPI_TAG != 0)
    *wrong = 2;
  look(previous);
  for (int root = 0; root < size; ++root) {
    MPI_Bcast(rank == root ? out : in, n, MPI_INT, root, MPI_COMM_WORLD);
    if (rank != root)
      look(root);
  }
  MPI_Request requests[2];
  MPI_Irecv(in, n, MPI_INT, previous, 1, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(out, n, MPI_INT, next, 1, MPI_COMM_WORLD, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  look(previous);
  MPI_Allreduce(MPI_IN_PLACE, out, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

__global__ void begin(int *out, int *in, int n, int rank, int next, int previous, MPI_Request *requests) {
  fill(out, n, rank);
  MPI_Irecv(in, n, MPI_INT, previous, 2, MPI_COMM_WORLD, requests);
  MPI_Isend(out, n, MPI_INT, next, 2, MPI_COMM_WORLD, requests + 1);
}
__global__ void finish(int *in, int n, MPI_Request *requests) {
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    in[i] += 1;
}

/// `shift` elements: the addresses are multiples of four bytes, and no more.
static void check(int n, int shift) {
  test::Array<int> out_memory(n + 1), in_memory(n + 1), wrong(1);
  int *out = out_memory.data() + shift, *in = in_memory.data() + shift;
  by_grid<<<3, 64>>>(out, in, n, test::rank, test::size, test::next(), test::previous(), wrong.data());
  test::synchronize();
  test::expect_each(wrong, [](int) { return 0; }, "by_grid");
  auto read = [n](int *from) {
    std::vector<int> host(n);
    CUDA_CHECK(cudaMemcpy(host.data(), from, n * sizeof(int), cudaMemcpyDeviceToHost));
    return host;
  };
  std::vector<int> got = read(out);
  for (int i = 0; i < n; ++i)
    test::expect_equal(got[i], 1000 * test::size * (test::size - 1) / 2 + test::size * (i % 997), "reduced");

  test::Array<MPI_Request> requests(2, MPI_REQUEST_NULL);
  for (bool host : {false, true}) {
    CUDA_CHECK(cudaMemset(in, 0xff, n * sizeof(int)));
    begin<<<2, 32>>>(out, in, n, test::rank, test::next(), test::previous(), requests.data());
    if (host) {
      test::synchronize();
      std::vector<MPI_Request> handles = requests.read();
      MPI_Waitall(2, handles.data(), MPI_STATUSES_IGNORE);
    } else {
      finish<<<3, 20>>>(in, n, requests.data());
      test::synchronize();
    }
    got = read(in);
    for (int i = 0; i < n; ++i)
      test::expect_equal(got[i], wanted(test::previous(), i) + !host, "nonblocking");
  }
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  for (int n : {1, 16384, 16385, 25600, 25601, 300000, 800000}) // 64 KiB, 100 KiB, over any eager limit
    check(n, 0);
  check(16385, 1);
  check(100001, 1);
  return test::end();
}
