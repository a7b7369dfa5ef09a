// CUDA calls of the host that wait for a kernel in flight, right behind its launch: copies from and to ordinary and
// page-locked memory, symbols, cudaFree; and more launches than a stream takes at a time.
// RUN: %gmpicxx %all-lowerings %s -o %t
// RUN: %each-lowering %ranks 1-3 %t
#include "../Inputs/shape.h"

__device__ int symbol;

/// *value: those of all ranks.
__global__ void sum(int *value, int rounds) {
  int own = threadIdx.x, total;
  for (int i = 0; i < rounds; ++i)
    MPI_Allreduce(value, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (blockIdx.x == 0 && own == 0)
    symbol = *value = total;
}
__global__ void add_one(int *value) { ++*value; }

static int total(int value) { return test::over_ranks([=](int r) { return value + r; }); }

struct Case {
  test::Array<int> value{1};
  int expected = 0;

  /// Gives the device a value; the kernel is in flight, maybe, when it returns.
  explicit Case(int given) : expected(total(given)) {
    given += test::rank;
    CUDA_CHECK(cudaMemcpy(value.data(), &given, sizeof(int), cudaMemcpyHostToDevice));
    sum<<<2, 32>>>(value.data(), 20);
  }
  void check(int got, const char *after) { test::expect_equal(got, expected, after); }
};

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  int got = -1, *page_locked;
  CUDA_CHECK(cudaMallocHost(&page_locked, 1 << 20));
  {
    Case c(1);
    CUDA_CHECK(cudaMemcpy(&got, c.value.data(), sizeof(int), cudaMemcpyDeviceToHost));
    c.check(got, "cudaMemcpy to ordinary memory");
  }
  {
    Case c(2);
    CUDA_CHECK(cudaMemcpy(page_locked, c.value.data(), sizeof(int), cudaMemcpyDeviceToHost));
    c.check(*page_locked, "cudaMemcpy to page-locked memory");
  }
  {
    Case c(3);
    CUDA_CHECK(cudaMemcpyAsync(&got, c.value.data(), sizeof(int), cudaMemcpyDeviceToHost, 0));
    test::synchronize();
    c.check(got, "cudaMemcpyAsync to ordinary memory");
  }
  {
    Case c(4);
    CUDA_CHECK(cudaMemcpyFromSymbol(&got, symbol, sizeof(int)));
    c.check(got, "cudaMemcpyFromSymbol");
  }
  {
    Case c(5);
    std::vector<int> much(1 << 20, 7);
    test::Array<int> other(int(much.size()));
    CUDA_CHECK(cudaMemcpyAsync(other.data(), much.data(), much.size() * sizeof(int), cudaMemcpyHostToDevice, 0));
    CUDA_CHECK(cudaMemcpy2D(&got, sizeof(int), c.value.data(), sizeof(int), sizeof(int), 1, cudaMemcpyDeviceToHost));
    c.check(got, "cudaMemcpy2D");
    test::expect_each(other, [](int) { return 7; }, "a large copy");
  }
  {
    Case c(6);
    void *memory, *page_locked_memory;
    CUDA_CHECK(cudaMalloc(&memory, 1 << 20));
    CUDA_CHECK(cudaMallocHost(&page_locked_memory, 1 << 20));
    CUDA_CHECK(cudaFree(memory));
    CUDA_CHECK(cudaFreeHost(page_locked_memory));
    c.check(c.value.read()[0], "cudaFree");
  }
  {
    Case c(7);
    const int launches = 3000;
    for (int i = 0; i < launches; ++i)
      add_one<<<1, 1>>>(c.value.data());
    c.expected += launches;
    c.check(c.value.read()[0], "3000 launches");
  }
  { // a stream that waits for no other: the host goes on beside the kernel
    cudaStream_t stream;
    CUDA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    Case c(8);
    test::Array<int> other(1, 0);
    for (int i = 0; i < 3000; ++i)
      add_one<<<1, 1, 0, stream>>>(other.data());
    CUDA_CHECK(cudaMemcpyAsync(&got, other.data(), sizeof(int), cudaMemcpyDeviceToHost, stream));
    CUDA_CHECK(cudaStreamSynchronize(stream));
    test::expect_equal(got, 3000, "launches in another stream");
    c.check(c.value.read()[0], "with a stream beside it");
    CUDA_CHECK(cudaStreamDestroy(stream));
  }
  CUDA_CHECK(cudaFreeHost(page_locked));
  return test::end();
}
