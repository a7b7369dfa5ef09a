// Several host threads set communicators up for kernels' own messages at once, and free them, each rank's
// in an order of its own. Messages with equal tags stay on their communicators.
// LOWERINGS: queue (split kernels leave such communicators to the queue)
// RUN: %gmpicxx %s -o %t
// RUN: %ranks 1-3 %t
#include "Inputs/check.h"

#include <cstring>
#include <thread>

constexpr int threads = 4, each = 6, count = threads * each, rounds = 3;

/// All messages are there before the first is received, and they are asked for in reverse.
__global__ void exchange(const MPI_Comm *comms, int *data, int *got, int *sums, int next, int previous) {
  for (int i = 0; i < count; ++i)
    MPI_Send(data + i, 1, MPI_INT, next, 0, comms[i]);
  for (int i = count - 1; i >= 0; --i)
    MPI_Recv(got + i, 1, MPI_INT, previous, 0, comms[i], MPI_STATUS_IGNORE);
  for (int i = 0; i < count; ++i)
    MPI_Allreduce(data + i, sums + i, 1, MPI_INT, MPI_SUM, comms[i]);
}

/// Calls act(communicator) for all of them, with each thread's in order.
template <class Act> static void with_threads(std::vector<MPI_Comm> &comms, Act act) {
  int device = 0;
  CUDA_CHECK(cudaGetDevice(&device));
  std::vector<std::thread> started;
  for (int i = 0; i < threads; ++i) {
    int thread = test::rank % 2 == 0 ? i : threads - 1 - i; // the other ranks begin with the last
    started.emplace_back([&, thread] {
      CUDA_CHECK(cudaSetDevice(device));
      for (int j = 0; j < each; ++j)
        act(comms[thread * each + j]);
    });
  }
  for (std::thread &thread : started)
    thread.join();
}

static void expect_in_use(MPI_Comm comm) {
  MPI_Info info;
  MPI_Comm_get_info(comm, &info);
  char value[8] = "";
  int found = 0;
  MPI_Info_get(info, "gmpi_assert_kernel_only", 7, value, &found);
  test::expect(found && std::strcmp(value, "true") == 0, "kernels do not carry a communicator's messages");
  MPI_Info_free(&info);
}

static void check(std::vector<MPI_Comm> &comms, int round) {
  for (MPI_Comm &comm : comms)
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  with_threads(comms, [](MPI_Comm &comm) { test::assert_kernel_only(comm); });
  auto value = [round](int rank, int i) { return 10000 * rank + 100 * round + i; };
  test::Array<MPI_Comm> on_device(count);
  test::Array<int> data(count), got(count, -1), sums(count, -1);
  std::vector<int> mine(count);
  for (int i = 0; i < count; ++i) {
    expect_in_use(comms[i]);
    mine[i] = value(test::rank, i);
  }
  on_device.write(comms);
  data.write(mine);
  exchange<<<2, 32>>>(on_device.data(), data.data(), got.data(), sums.data(), test::next(),
                      test::previous());
  test::synchronize();
  test::expect_each(got, [&](int i) { return value(test::previous(), i); }, "message");
  test::expect_each(
      sums, [&](int i) { return test::size * value(0, i) + 10000 * test::size * (test::size - 1) / 2; },
      "sum");
  with_threads(comms, [](MPI_Comm &comm) { MPI_Comm_free(&comm); });
}

int main(int argc, char **argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &test::rank);
  MPI_Comm_size(MPI_COMM_WORLD, &test::size);
  std::vector<MPI_Comm> comms(count);
  for (int round = 0; round < rounds; ++round)
    check(comms, round);
  return test::end();
}
