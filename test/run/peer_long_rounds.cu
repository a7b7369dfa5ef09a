// Collective calls of many rounds, from kernel to kernel: longer than what there is memory for, by grids
// of different sizes, by blocks and single threads, on different ranks of one call, one behind the other,
// with threads that have left, at any address, and from local memory.
// LOWERINGS: queue (split kernels leave such communicators to the queue)
// RUN: %gmpicxx %s -o %t
// RUN: env GMPI_CPU_STACK_KB=512 GMPI_PEER=1 %ranks 1-4 %t
// RUN: env GMPI_CPU_STACK_KB=512 GMPI_PEER=1 GMPI_HOSTS_FOR_TESTS=2 %ranks 3 %t
#include "Inputs/check.h"

constexpr int of_a_round = 16384, most = 9 * of_a_round + 77;

enum Turn { sum, maximum, in_place, broadcast, reduce, turns };

/// A rank's data, and who looks at it: every `threads`-th element from number `first` on.
struct Data {
  int *in, *out;
  int count, rank, size;
  int first, threads;
  int *wrong;

  __device__ int own(int of, int i, int step) const { return 3 * of + i % 1009 + step; }
  __device__ int all(int i, int step) const { return 3 * size * (size - 1) / 2 + size * (i % 1009 + step); }
  __device__ void fill(int step) const {
    for (int i = first; i < count; i += threads) {
      in[i] = own(rank, i, step);
      out[i] = -1;
    }
  }
  __device__ void check(int turn, int root, int step) const {
    const int *got = turn == in_place || turn == broadcast ? in : out;
    for (int i = first; i < count; i += threads) {
      int wanted = turn == maximum     ? own(size - 1, i, step)
                   : turn == broadcast ? own(root, i, step)
                   : turn == reduce    ? (rank == root ? all(i, step) : -1)
                                       : all(i, step);
      if (got[i] != wanted)
        atomicAdd(wrong, 1);
    }
  }
};

__global__ void by_grid(Data data, int from, int steps) {
  data.first = blockIdx.x * blockDim.x + threadIdx.x;
  data.threads = gridDim.x * blockDim.x;
  for (int step = from; step < steps; ++step)
    for (int turn = 0; turn < turns; ++turn) {
      int root = (step + turn) % data.size;
      data.fill(step);
#pragma gmpi scope(grid)
      if (turn == sum)
        MPI_Allreduce(data.in, data.out, data.count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
      else if (turn == maximum)
        MPI_Allreduce(data.in, data.out, data.count, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
      else if (turn == in_place)
        MPI_Allreduce(MPI_IN_PLACE, data.in, data.count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
      else if (turn == broadcast)
        MPI_Bcast(data.in, data.count, MPI_INT, root, MPI_COMM_WORLD);
      else
        MPI_Reduce(data.in, data.out, data.count, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD);
      data.check(turn, root, step);
    }
}

/// Threads of some blocks have left, so that these have other carriers than the rest.
__global__ void some_leave(Data data, int steps) {
  if (blockIdx.x % 2 == 1 && threadIdx.x % 7 == 3)
    return;
  data.first = threadIdx.x;
  data.threads = blockDim.x; // the first block's alone
  for (int step = 0; step < steps; ++step) {
    if (blockIdx.x == 0)
      data.fill(step);
#pragma gmpi scope(grid)
    MPI_Allreduce(data.in, data.out, data.count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (blockIdx.x == 0)
      data.check(sum, 0, step);
  }
}

/// The steps from number `from` on. `stay`: threads that do not leave at once.
__global__ void by_block(Data data, int from, int steps, int stay) {
  data.first = threadIdx.x;
  data.threads = stay;
  if (threadIdx.x >= stay)
    return;
  for (int step = from; step < steps; ++step)
    for (int turn = 0; turn < turns; ++turn) {
      int root = (step + turn) % data.size;
      data.fill(step);
#pragma gmpi scope(block)
      if (turn == sum)
        MPI_Allreduce(data.in, data.out, data.count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
      else if (turn == maximum)
        MPI_Allreduce(data.in, data.out, data.count, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
      else if (turn == in_place)
        MPI_Allreduce(MPI_IN_PLACE, data.in, data.count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
      else if (turn == broadcast)
        MPI_Bcast(data.in, data.count, MPI_INT, root, MPI_COMM_WORLD);
      else
        MPI_Reduce(data.in, data.out, data.count, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD);
      data.check(turn, root, step);
    }
}

__global__ void by_thread(Data data, int from, int steps) {
  data.first = 0;
  data.threads = 1;
  if (threadIdx.x != 0)
    return;
  for (int step = from; step < steps; ++step)
    for (int turn = 0; turn < turns; ++turn) {
      int root = (step + turn) % data.size;
      data.fill(step);
#pragma gmpi scope(thread)
      if (turn == sum)
        MPI_Allreduce(data.in, data.out, data.count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
      else if (turn == maximum)
        MPI_Allreduce(data.in, data.out, data.count, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
      else if (turn == in_place)
        MPI_Allreduce(MPI_IN_PLACE, data.in, data.count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
      else if (turn == broadcast)
        MPI_Bcast(data.in, data.count, MPI_INT, root, MPI_COMM_WORLD);
      else
        MPI_Reduce(data.in, data.out, data.count, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD);
      data.check(turn, root, step);
    }
}

constexpr int local = 5 * 4096 + 3; ///< elements that each thread has itself

/// Every thread receives what rank 0 has, and one rank's threads from their own memory; the others' from
/// global memory.
__global__ void from_local(int *data, int *got, int rank, int size, int *wrong) {
  if (rank == 0) {
    int own[local];
    for (int i = 0; i < local; ++i)
      own[i] = i;
    MPI_Bcast(own, local, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Bcast(own, local, MPI_INT, size - 1, MPI_COMM_WORLD);
    for (int i = 0; i < local; ++i)
      if (own[i] != (size == 1 ? i : i + 1))
        atomicAdd(wrong, 1);
  } else {
    MPI_Bcast(got, local, MPI_INT, 0, MPI_COMM_WORLD);
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < local; i += gridDim.x * blockDim.x) {
      if (got[i] != i)
        atomicAdd(wrong, 1);
      data[i] = i + 1;
    }
    MPI_Bcast(data, local, MPI_INT, size - 1, MPI_COMM_WORLD);
  }
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  test::Array<int> in(most + 2), out(most + 2), wrong(1);
  auto done = [&](const char *what, int count) {
    test::synchronize();
    int found = wrong.read()[0];
    test::expect(found == 0, "%s, %d elements: %d are wrong", what, count, found);
    wrong.write({0});
  };
  Data data = {in.data(), out.data(), 0, test::rank, test::size, 0, 0, wrong.data()};
  auto shift = [&](int offset) {
    data.in = in.data() + offset;
    data.out = out.data() + offset;
  };
  const int steps = test::thread_sanitizer ? 1 : 2;
  for (int count : {of_a_round + 1, 4 * of_a_round, 4 * of_a_round + 1, most}) {
    if (test::thread_sanitizer && count != most)
      continue;
    data.count = count;
    for (int offset : {0, 2, 1}) { // at addresses for sixteen bytes, for eight, and for four
      if (test::thread_sanitizer && offset != 1)
        continue;
      shift(offset);
      by_grid<<<3, 64>>>(data, 0, steps);
      done("a grid", count);
    }
    some_leave<<<3, 64>>>(data, steps);
    done("some leave", count);
    // No two ranks alike.
    switch (test::rank) {
    case 0:
      by_grid<<<5, 96>>>(data, 0, steps);
      break;
    case 1:
      by_block<<<1, 80>>>(data, 0, steps, count % 2 == 0 ? 80 : 70);
      break;
    default:
      by_thread<<<1, 32>>>(data, 0, 1);
      by_grid<<<1, 48>>>(data, 1, steps);
    }
    done("a grid, a block, a thread", count);
  }
  from_local<<<2, 32>>>(in.data(), out.data(), test::rank, test::size, wrong.data());
  done("local memory", local);
  return test::end();
}
