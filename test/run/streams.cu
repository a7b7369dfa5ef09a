// Several kernels in flight: on streams of their own, with communicators of their own, waiting for each
// other; and many launches one after another without a pause.
// RUN: %gmpicxx %s -o %t
// RUN: %ranks 1-4 %t
// RUN: env GMPI_PEER=1 %ranks 2-3 %t
#include "Inputs/check.h"

__global__ void ask(int *value, int peer, MPI_Comm comm) {
  MPI_Send(value, 1, MPI_INT, peer, 0, comm);
  MPI_Recv(value, 1, MPI_INT, peer, 1, comm, MPI_STATUS_IGNORE);
}
__global__ void answer(int *value, int peer, MPI_Comm comm) {
  int question;
  MPI_Recv(&question, 1, MPI_INT, peer, 0, comm, MPI_STATUS_IGNORE);
  if (blockIdx.x == 0 && threadIdx.x == 0)
    *value = question * 2;
  MPI_Send(value, 1, MPI_INT, peer, 1, comm);
}

__global__ void sum(int *values, int rounds, MPI_Comm comm) {
  for (int i = 0; i < rounds; ++i)
    MPI_Allreduce(MPI_IN_PLACE, values, 2, MPI_INT, MPI_MAX, comm);
  MPI_Allreduce(MPI_IN_PLACE, values, 2, MPI_INT, MPI_SUM, comm);
}

__global__ void pass(int *value, int next, int previous) {
  MPI_Sendrecv(value, 1, MPI_INT, next, 0, value + 1, 1, MPI_INT, previous, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  if (threadIdx.x == 0)
    value[0] = value[1] + 1;
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  cudaStream_t first, second;
  CUDA_CHECK(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking));
  CUDA_CHECK(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
  test::Array<int> asked(1, 10 + test::rank), answered(1);
  ask<<<2, 32, 0, first>>>(asked.data(), test::next(), MPI_COMM_WORLD);
  answer<<<2, 32, 0, second>>>(answered.data(), test::previous(), MPI_COMM_WORLD);
  test::synchronize();
  test::expect_equal(asked.read()[0], 2 * (10 + test::rank), "the answer");
  test::expect_equal(answered.read()[0], 2 * (10 + test::previous()), "what was answered");

  // The ranks launch in different orders.
  MPI_Comm comms[2];
  MPI_Comm_dup(MPI_COMM_WORLD, &comms[0]);
  MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]);
  test::Array<int> a(2, test::rank), b(2, 2 * test::rank);
  for (int i = 0; i < 2; ++i) {
    bool is_a = (i + test::rank) % 2 == 0;
    sum<<<2, 32, 0, is_a ? first : second>>>(is_a ? a.data() : b.data(), 5, comms[is_a ? 0 : 1]);
  }
  test::synchronize();
  int maximum = test::size - 1;
  test::expect_each(a, [&](int) { return test::size * maximum; }, "a");
  test::expect_each(b, [&](int) { return 2 * test::size * maximum; }, "b");

  int launches = 400; // more than may be under way at a time
  test::Array<int> value(2, 0);
  for (int i = 0; i < launches; ++i)
    pass<<<1, 32>>>(value.data(), test::next(), test::previous());
  test::synchronize();
  test::expect_equal(value.read()[0], launches, "the value passed on");

  MPI_Comm_free(&comms[0]);
  MPI_Comm_free(&comms[1]);
  CUDA_CHECK(cudaStreamDestroy(first));
  CUDA_CHECK(cudaStreamDestroy(second));
  return test::end();
}
