// Collective calls of a grid, from kernel to kernel: around every limit of length, in each thread's own memory,
// often one after the other, between calls of other scopes and of other launches, with threads and blocks
// that have left, and while another rank comes late and waits for a message first.
// LOWERINGS: queue (split kernels leave such communicators to the queue)
// RUN: %gmpicxx %s -o %t
// RUN: env GMPI_PEER=1 %ranks 1-4 %t
// RUN: env GMPI_PEER=1 GMPI_HOSTS_FOR_TESTS=2 %ranks 3 %t
#include "Inputs/check.h"

#include <chrono>
#include <thread>

constexpr int most = 50000;

__device__ int first_of() { return blockIdx.x * blockDim.x + threadIdx.x; }
__device__ int stride() { return gridDim.x * blockDim.x; }

/// Counts elements that are not as they should be.
template <class T, class Wanted>
__device__ void check(const T *got, int count, int *wrong, Wanted wanted) {
  for (int i = first_of(); i < count; i += stride())
    if (got[i] != wanted(i))
      atomicAdd(wrong, 1);
}

/// `offset`: elements that the buffers begin behind an address for eight bytes.
__global__ void every_call(int *data, int *got, double *large, int count, int offset, int rank,
                           int size, int *wrong) {
  int *in = data + offset, *out = got + offset;
  for (int step = 0; step < 3; ++step) {
    for (int i = first_of(); i < count; i += stride())
      in[i] = i + rank + step;
    MPI_Allreduce(in, out, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    check(out, count, wrong, [&](int i) { return size * (i + step) + size * (size - 1) / 2; });
    MPI_Allreduce(in, out, count, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    check(out, count, wrong, [&](int i) { return i + step + size - 1; });
    int root = step % size;
    MPI_Bcast(in, count, MPI_INT, root, MPI_COMM_WORLD);
    check(in, count, wrong, [&](int i) { return i + root + step; });
    MPI_Allreduce(MPI_IN_PLACE, in, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    check(in, count, wrong, [&](int i) { return size * (i + root + step); });
    MPI_Reduce(in, out, count, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD);
    if (rank == root)
      check(out, count, wrong, [&](int i) { return size * size * (i + root + step); });
    for (int i = first_of(); i < count / 2; i += stride())
      large[i] = i + 0.5 * rank;
    MPI_Allreduce(MPI_IN_PLACE, large, count / 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    check(large, count / 2, wrong, [&](int i) { return size * i + 0.25 * size * (size - 1); });
  }
}

/// Rounds of the grid, of one block and of one thread take turns.
__global__ void every_scope(int *data, int *got, int count, int rank, int size, int *wrong) {
  for (int step = 0; step < 20; ++step) {
    for (int i = first_of(); i < count; i += stride())
      data[i] = i + rank + step;
    MPI_Allreduce(data, got, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    check(got, count, wrong, [&](int i) { return size * (i + step) + size * (size - 1) / 2; });
    if (blockIdx.x == step % gridDim.x) {
      int *own = data + most / 2;
      for (int i = threadIdx.x; i < count; i += blockDim.x)
        own[i] = rank + 1;
      if (step % 3 != 2) {
#pragma gmpi scope(block)
        MPI_Allreduce(MPI_IN_PLACE, own, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        for (int i = threadIdx.x; i < count; i += blockDim.x)
          if (own[i] != size * (size + 1) / 2)
            atomicAdd(wrong, 1);
      } else {
        __syncthreads();
        if (threadIdx.x == 0) {
#pragma gmpi scope(thread)
          MPI_Bcast(own, 1, MPI_INT, 0, MPI_COMM_WORLD);
          if (own[0] != 1)
            atomicAdd(wrong, 1);
        }
      }
    }
  }
}

enum Leave { other_threads, first_threads, all_last_threads, block, block_later, leaves };

/// Those of a block's threads that have left, and whole blocks, take no part.
__global__ void some_leave(int *data, int *got, int count, int rank, int size, int who,
                           int *wrong) {
  const bool works = blockIdx.x == (who == first_threads ? gridDim.x - 1 : 0);
  const int workers = blockDim.x - (who == all_last_threads ? 3 : 0);
  if ((who == other_threads && blockIdx.x != 0 && threadIdx.x % 7 == 3) ||
      (who == first_threads && blockIdx.x == 0 && threadIdx.x % 7 == 0) ||
      (who == all_last_threads && threadIdx.x >= workers) || (who == block && blockIdx.x == 1))
    return;
  for (int step = 0; step < 5; ++step) {
    if (who == block_later && blockIdx.x == 1 && step == 2)
      return;
    if (works)
      for (int i = threadIdx.x; i < count; i += workers)
        data[i] = i + rank + step;
#pragma gmpi scope(grid)
    MPI_Allreduce(data, got, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (works)
      for (int i = threadIdx.x; i < count; i += workers)
        if (got[i] != size * (i + step) + size * (size - 1) / 2)
          atomicAdd(wrong, 1);
  }
}

/// Short calls on each thread's own memory, the same ones again and again: roots and communicators take turns,
/// one block's own calls come between, and a block leaves. What blocks have written, barriers show the others.
__global__ void own_memory(int *data, int rank, int size, int leaver, MPI_Comm other, int *wrong) {
  int bad = 0;
  for (int step = 0; step < 50; ++step) {
    if (step == 40 && blockIdx.x == leaver)
      break;
    double mine = rank + step + 0.5, sum = -1, most = -1;
#pragma gmpi scope(grid)
    MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    bad += sum != size * (step + 0.5) + size * (size - 1) / 2;
#pragma gmpi scope(grid)
    MPI_Allreduce(&mine, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    bad += most != size - 1 + step + 0.5;
    int pair[2] = {rank - step, step - rank}, least[2] = {};
#pragma gmpi scope(grid)
    MPI_Allreduce(pair, least, 2, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    bad += least[0] != -step || least[1] != step - size + 1;
    float seven[7], product[7] = {};
    for (int i = 0; i < 7; ++i)
      seven[i] = i + 1;
#pragma gmpi scope(grid)
    MPI_Allreduce(seven, product, 7, MPI_FLOAT, MPI_PROD, MPI_COMM_WORLD);
    for (int i = 0; i < 7; ++i) {
      float wanted = 1;
      for (int k = 0; k < size; ++k)
        wanted *= i + 1;
      bad += product[i] != wanted;
    }
    for (int i = 0; i < 1 + step % 2; ++i)
#pragma gmpi scope(grid)
      MPI_Barrier(other);
    double parts = 2, whole = -1;
#pragma gmpi scope(grid)
    MPI_Allreduce(&parts, &whole, 1, MPI_DOUBLE, MPI_SUM, other);
    bad += whole != 2 * size;
    const int root = step % size;
    int word = rank == root ? step : -1, all = -1;
#pragma gmpi scope(grid)
    MPI_Bcast(&word, 1, MPI_INT, root, MPI_COMM_WORLD);
    bad += word != step;
#pragma gmpi scope(grid)
    MPI_Reduce(&word, &all, 1, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD);
    bad += all != (rank == root ? size * step : -1);
    if (threadIdx.x == 0)
      data[blockIdx.x] = step;
#pragma gmpi scope(grid)
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < gridDim.x; ++i)
      bad += i != leaver && reinterpret_cast<volatile int *>(data)[i] != step;
#pragma gmpi scope(grid)
    MPI_Barrier(MPI_COMM_WORLD);
    if (step % 3 == 1 && blockIdx.x == step % (gridDim.x - 1)) {
      word = rank;
#pragma gmpi scope(block)
      MPI_Allreduce(MPI_IN_PLACE, &word, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
      bad += word != size * (size - 1) / 2;
    }
  }
  if (bad != 0)
    atomicAdd(wrong, bad);
}

/// Two launches at once take turns with the same communicator: whose turn it is, `turn` says.
__global__ void every_launch(int *data, int *got, int count, int rank, int size, unsigned *turn,
                             unsigned its, int *wrong) {
  for (unsigned step = its; step < 20; step += 2) {
    if (threadIdx.x == 0)
      while (atomicAdd(turn, 0) != step * gridDim.x)
        ;
    __syncthreads();
    for (int i = first_of(); i < count; i += stride())
      data[i] = i + rank + step;
    MPI_Allreduce(data, got, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    check(got, count, wrong, [&](int i) { return size * (i + int(step)) + size * (size - 1) / 2; });
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0)
      atomicAdd(turn, 1);
  }
}

/// Rank 0 has announced a long message before it collects; the others collect when they have it.
__global__ void behind_a_message(int *data, int *got, int *sum, int count, int rank, int size,
                                 int *wrong) {
  MPI_Request requests[4];
  for (int i = first_of(); i < most; i += stride())
    data[i] = i;
  if (rank == 0)
    for (int to = 1; to < size; ++to)
      MPI_Isend(data, most, MPI_INT, to, 5, MPI_COMM_WORLD, requests + to);
  else
    MPI_Recv(got, most, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (rank != 0)
    check(got, most, wrong, [](int i) { return i; });
  for (int i = first_of(); i < count; i += stride())
    sum[i] = rank;
  MPI_Allreduce(MPI_IN_PLACE, sum, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  check(sum, count, wrong, [&](int) { return size * (size - 1) / 2; });
  if (rank == 0)
    for (int to = 1; to < size; ++to)
      MPI_Wait(requests + to, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  test::Array<int> data(most + 1), got(most + 1), sum(most), wrong(1);
  test::Array<double> large(most / 2);
  test::Array<unsigned> turn(1);
  cudaStream_t streams[2];
  for (cudaStream_t &stream : streams)
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  auto done = [&](const char *what, int count, int blocks) {
    test::synchronize();
    int found = wrong.read()[0];
    test::expect(found == 0, "%s, %d elements, %d blocks: %d are wrong", what, count, blocks,
                 found);
    wrong.write({0});
  };
  for (int blocks : {1, 3, 7})
    for (int count : {2, 58, 61, 62, 63, 64, 256, 257, 500, 8191, 16384, 16385, most})
      for (int offset : {0, 1}) {
        bool few = blocks != 3 || test::thread_sanitizer;
        if (few && (offset != 0 || (count != 63 && count != 16384)))
          continue;
        every_call<<<blocks, 64>>>(data.data(), got.data(), large.data(), count, offset, test::rank,
                                   test::size, wrong.data());
        done("every call", count, blocks);
      }
  for (int count : {1, 100, 5000}) {
    every_scope<<<4, 64>>>(data.data(), got.data(), count, test::rank, test::size, wrong.data());
    done("every scope", count, 4);
    for (int threads : {64, 16})
      for (int who = 0; who < leaves; ++who) {
        some_leave<<<3, threads>>>(data.data(), got.data(), count, test::rank, test::size, who,
                                   wrong.data());
        done("some leave", count, 3);
      }
    turn.write({0});
    for (unsigned its : {0, 1})
      every_launch<<<3, 64, 0, streams[its]>>>(data.data(), got.data(), count, test::rank,
                                               test::size, turn.data(), its, wrong.data());
    done("every launch", count, 3);
  }
  MPI_Comm other;
  MPI_Comm_dup(MPI_COMM_WORLD, &other);
  for (int leaver : {-1, 3})
    for (int threads : {64, 16}) {
      own_memory<<<4, threads>>>(data.data(), test::rank, test::size, leaver, other, wrong.data());
      done("own memory", leaver, 4);
    }
  MPI_Comm_free(&other);
  for (int count : {1, 1000, 20000}) {
    if (test::rank != 0)
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
    behind_a_message<<<3, 64>>>(data.data(), got.data(), sum.data(), count, test::rank, test::size,
                                wrong.data());
    done("behind a message", count, 3);
  }
  return test::end();
}
