// Collective calls of a grid whose blocks wait for the other ranks each by itself, from kernel to kernel:
// barriers, and results in each thread's own memory. Of every function and kind of reduction, up to what
// a warp carries, between calls of other scopes that use the same rounds' memory, with threads and
// blocks that have left, and while another rank comes late.
// LOWERINGS: queue (split kernels leave such communicators to the queue)
// RUN: %gmpicxx %s -o %t
// RUN: env GMPI_PEER=1 %ranks 1-4 %t
// RUN: env GMPI_PEER=1 GMPI_HOSTS_FOR_TESTS=2 %ranks 3 %t
#include "Inputs/check.h"

#include <chrono>
#include <thread>

constexpr int blocks = 5, threads = 64, most = 31; // doubles that a warp carries

/// What each block has stored before a barrier, all find behind it, whoever has come last.
__global__ void barriers(int *stored, int steps, int *wrong) {
  for (int step = 1; step <= steps; ++step) {
    if (threadIdx.x == step % blockDim.x)
      stored[blockIdx.x] = step;
    MPI_Barrier(MPI_COMM_WORLD);
    if (threadIdx.x < gridDim.x && stored[threadIdx.x] != step)
      atomicAdd(wrong, 1);
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

/// Every thread gets every call's result.
__global__ void results(int steps, int count, int rank, int size, int *wrong) {
  double in[most], out[most];
  unsigned char bits[most], all_bits[most];
  const int ranks = size * (size - 1) / 2;
  for (int step = 0; step < steps; ++step) {
    for (int i = 0; i < count; ++i) {
      in[i] = i + rank + step;
      bits[i] = static_cast<unsigned char>(1 << (rank + i) % 8);
      out[i] = -1;
    }
    MPI_Allreduce(in, out, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < count; ++i)
      if (out[i] != size * (i + step) + ranks)
        atomicAdd(wrong, 1);
    MPI_Allreduce(MPI_IN_PLACE, in, count, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    for (int i = 0; i < count; ++i)
      if (in[i] != i + size - 1 + step)
        atomicAdd(wrong, 1);
    MPI_Allreduce(bits, all_bits, count, MPI_UNSIGNED_CHAR, MPI_BOR, MPI_COMM_WORLD);
    for (int i = 0; i < count; ++i) {
      unsigned char wanted = 0;
      for (int from = 0; from < size; ++from)
        wanted |= static_cast<unsigned char>(1 << (from + i) % 8);
      if (all_bits[i] != wanted)
        atomicAdd(wrong, 1);
    }
    const int root = step % size;
    for (int i = 0; i < count; ++i)
      in[i] = rank == root ? 3 * i + step : -1;
    MPI_Bcast(in, count, MPI_DOUBLE, root, MPI_COMM_WORLD);
    for (int i = 0; i < count; ++i)
      if (in[i] != 3 * i + step)
        atomicAdd(wrong, 1);
    for (int i = 0; i < count; ++i)
      out[i] = -1;
    MPI_Reduce(in, out, count, MPI_DOUBLE, MPI_SUM, root, MPI_COMM_WORLD);
    for (int i = 0; i < count; ++i)
      if (out[i] != (rank == root ? size * (3 * i + step) : -1))
        atomicAdd(wrong, 1);
  }
}

/// One block goes on with calls of its own, by the same rounds' memory, while the others may still be at
/// the grid's.
__global__ void one_goes_on(int steps, int own_calls, int *data, int rank, int size, int *wrong) {
  for (int step = 0; step < steps; ++step) {
    double mine = rank + step, sum = -1;
    MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (sum != size * step + size * (size - 1) / 2)
      atomicAdd(wrong, 1);
    if (blockIdx.x == step % gridDim.x)
      for (int i = 0; i < own_calls; ++i) {
        if (threadIdx.x == 0)
          data[0] = rank + i;
#pragma gmpi scope(block)
        MPI_Allreduce(MPI_IN_PLACE, data, 1 + i % 200, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        if (threadIdx.x == 0 && data[0] != size * i + size * (size - 1) / 2)
          atomicAdd(wrong, 1);
      }
    MPI_Barrier(MPI_COMM_WORLD);
    if (blockIdx.x == (step + 1) % gridDim.x && threadIdx.x == 7)
      for (int i = 0; i < own_calls; ++i) {
#pragma gmpi scope(thread)
        MPI_Barrier(MPI_COMM_WORLD);
      }
  }
}

enum Leave { other_threads, first_threads, last_threads, block, block_later, leaves };

/// Those of a block's threads that have left, and whole blocks, take no part.
__global__ void some_leave(int steps, int who, int rank, int size, int *wrong) {
  if ((who == other_threads && blockIdx.x != 0 && threadIdx.x % 7 == 3) ||
      (who == first_threads && blockIdx.x == 0 && threadIdx.x % 7 == 0) ||
      (who == last_threads && threadIdx.x >= blockDim.x - 3) || (who == block && blockIdx.x == 1))
    return;
  for (int step = 0; step < steps; ++step) {
    if (who == block_later && blockIdx.x == 1 && step == 2)
      return;
    double mine[3] = {double(rank), double(step), 1}, sums[3] = {};
#pragma gmpi scope(grid)
    MPI_Barrier(MPI_COMM_WORLD);
#pragma gmpi scope(grid)
    MPI_Allreduce(mine, sums, 3, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (sums[0] != size * (size - 1) / 2 || sums[1] != size * step || sums[2] != size)
      atomicAdd(wrong, 1);
    mine[0] = rank == size - 1 ? 7 + step : 0;
#pragma gmpi scope(grid)
    MPI_Bcast(mine, 1, MPI_DOUBLE, size - 1, MPI_COMM_WORLD);
    if (mine[0] != 7 + step)
      atomicAdd(wrong, 1);
  }
}

/// Rank 0 has announced a long message before it collects; the others collect when they have it.
__global__ void behind_a_message(int *data, int count, int rank, int size, int *wrong) {
  MPI_Request requests[4];
  if (rank == 0)
    for (int to = 1; to < size; ++to)
      MPI_Isend(data, count, MPI_INT, to, 5, MPI_COMM_WORLD, requests + to);
  else
    MPI_Recv(data, count, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  int sum = rank;
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (sum != size * (size - 1) / 2)
    atomicAdd(wrong, 1);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0)
    for (int to = 1; to < size; ++to)
      MPI_Wait(requests + to, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  const int steps = test::thread_sanitizer ? 20 : 100;
  test::Array<int> stored(threads), data(50000), wrong(1);
  auto done = [&](const char *what, int number) {
    test::synchronize();
    int found = wrong.read()[0];
    test::expect(found == 0, "%s, %d: %d are wrong", what, number, found);
    wrong.write({0});
  };
  for (int grid : {1, 2, blocks}) {
    barriers<<<grid, threads>>>(stored.data(), steps, wrong.data());
    done("barriers of blocks", grid);
  }
  for (int count : {1, 2, 30, most}) {
    results<<<blocks, threads>>>(steps / 10, count, test::rank, test::size, wrong.data());
    done("results of elements", count);
  }
  for (int own_calls : {1, 20}) {
    one_goes_on<<<blocks, threads>>>(steps / 5, own_calls, data.data(), test::rank, test::size,
                                     wrong.data());
    done("one goes on with calls", own_calls);
  }
  for (int block : {threads, 16})
    for (int who = 0; who < leaves; ++who) {
      some_leave<<<3, block>>>(60, who, test::rank, test::size, wrong.data());
      done("some leave", who);
    }
  for (int count : {1, 1000, 20000}) {
    if (test::rank != 0)
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
    behind_a_message<<<3, threads>>>(data.data(), count, test::rank, test::size, wrong.data());
    done("behind a message of elements", count);
  }
  return test::end();
}
