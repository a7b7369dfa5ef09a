// Launches return at once: the host sends what the kernel waits for; copies, events and queries of the stream see
// the whole kernel; kernels on two streams wait for each other.
// RUN: %gmpicxx %all-lowerings %s -o %t
// RUN: %each-lowering %ranks 1-3 %t
#include "../Inputs/shape.h"

__global__ void wait_for_host(int *out, int rank) {
  int thread = blockIdx.x * blockDim.x + threadIdx.x, kept = thread, got, sum;
  for (int i = 0; i < 3; ++i) {
    MPI_Recv(&got, 1, MPI_INT, rank, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    kept += got;
  }
  MPI_Allreduce(&got, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  out[thread] = kept + sum;
}

__global__ void ask(int *value, int peer, int rounds) {
  int own = 1000 * threadIdx.x;
  for (int i = 0; i < rounds; ++i) {
    MPI_Send(value, 1, MPI_INT, peer, 10, MPI_COMM_WORLD);
    MPI_Recv(value, 1, MPI_INT, peer, 11, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Barrier(MPI_COMM_SELF);
  if (blockIdx.x == 1)
    value[1 + threadIdx.x] = own + value[0];
}
__global__ void answer(int *value, int peer, int rounds) {
  for (int i = 0; i < rounds; ++i) {
    int question;
    MPI_Recv(&question, 1, MPI_INT, peer, 10, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (blockIdx.x == 0 && threadIdx.x == 0)
      *value = question + 1;
    MPI_Send(value, 1, MPI_INT, peer, 11, MPI_COMM_WORLD);
  }
}

static void host_meets_kernel(cudaStream_t stream) {
  const int n = 3 * 20;
  test::Array<int> out(n, -1), copy(n, -2);
  cudaEvent_t event;
  CUDA_CHECK(cudaEventCreate(&event));
  wait_for_host<<<3, 20, 0, stream>>>(out.data(), test::rank);
  CUDA_CHECK(cudaMemcpyAsync(copy.data(), out.data(), n * sizeof(int), cudaMemcpyDeviceToDevice, stream));
  CUDA_CHECK(cudaEventRecord(event, stream));
  test::expect(cudaStreamQuery(stream) == cudaErrorNotReady, "the stream is done before its kernel");
  cudaGetLastError(); // that was no error
  for (int i = 0; i < 3; ++i) {
    test::expect(cudaEventQuery(event) == cudaErrorNotReady, "the event is before message %d", i);
    cudaGetLastError();
    int number = 10 * i + test::rank;
    MPI_Send(&number, 1, MPI_INT, test::rank, i, MPI_COMM_WORLD);
  }
  CUDA_CHECK(cudaEventSynchronize(event));
  CUDA_CHECK(cudaStreamQuery(stream));
  int sum = test::over_ranks([](int r) { return 20 + r; });
  test::expect_each(copy, [&](int t) { return t + 30 + 3 * test::rank + sum; }, "copied behind the kernel");
  CUDA_CHECK(cudaEventDestroy(event));
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  cudaStream_t first, second;
  CUDA_CHECK(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking));
  CUDA_CHECK(cudaStreamCreate(&second));
  host_meets_kernel(first);
  host_meets_kernel(second);

  test::Array<int> asked(33, 0), answered(1);
  ask<<<2, 32, 0, first>>>(asked.data(), test::next(), 5);
  answer<<<2, 32, 0, second>>>(answered.data(), test::previous(), 5);
  CUDA_CHECK(cudaStreamSynchronize(first));
  test::expect_each(asked, [](int i) { return i == 0 ? 5 : 1000 * (i - 1) + 5; }, "answers");
  test::synchronize();
  CUDA_CHECK(cudaStreamDestroy(first));
  CUDA_CHECK(cudaStreamDestroy(second));
  return test::end();
}
