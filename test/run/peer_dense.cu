// Messages of every length at which the last of a warp's packets, of a slot or of a bundle of dense packets (from 3 KiB
// on) ends elsewhere, from addresses for sixteen, eight and four bytes to any, received by blocks, grids and single
// threads, kept before their receive, posted, probed for, cut short by what another tag wants first; the channel goes
// around several times, also in the midst of a message of two slots.
// LOWERINGS: queue (split kernels leave such communicators to the queue)
// RUN: %gmpicxx %s -o %t
// RUN: env GMPI_PEER=1 GMPI_STATS=1 %ranks 2 %t 2>&1 | FileCheck %s
// RUN: env GMPI_PEER=1 GMPI_HOSTS_FOR_TESTS=2 %ranks 2 %t
// CHECK-DAG: rank 0: from kernel to kernel: {{[0-9]+}} messages
// CHECK-DAG: {{^ok}}
#include "Inputs/check.h"

constexpr int room = 65536 + 64, lengths = 17, shifts = 5, rounds = test::thread_sanitizer ? 1 : 2;

__device__ int length_of(int i) {
  const int all[lengths] = {228,  232,  236,  996,  1000, 1004,  1256,  1260, 3072,
                            3076, 4604, 4608, 6000, 12288, 32768, 65532, 65536};
  return all[i % lengths];
}
/// Of what is received, and of what is sent (whole words of four bytes: else nothing is dense).
__device__ int shift_of(int i) {
  const int all[shifts] = {0, 16, 8, 4, 1};
  return all[i % shifts];
}
__device__ unsigned char pattern(int message, int i) {
  return static_cast<unsigned char>(i * 7 + i / 251 + i / 16 % 13 + message * 5);
}

enum Way { plainly, grown, by_thread, of_any, posted, kept, probed, ways };

struct Dense {
  unsigned char *out, *in;
  int *wrong;
};

__device__ void fill(Dense d, int message, int bytes, int from) {
  for (int i = threadIdx.x; i < bytes; i += blockDim.x)
    d.out[from + i] = pattern(message, i);
  __syncthreads();
}
__device__ void clear(Dense d) {
  for (int i = threadIdx.x; i < room; i += blockDim.x)
    d.in[i] = 0xee;
  __syncthreads();
}
__device__ void verify(Dense d, int message, int bytes, int to) {
  __syncthreads();
  for (int i = threadIdx.x; i < room; i += blockDim.x)
    if (d.in[i] != (i < to || i >= to + bytes ? 0xee : pattern(message, i - to)))
      atomicAdd(d.wrong, 1);
  __syncthreads();
}

/// One block, of each rank.
__global__ void blocks(Dense d, int rank) {
  int message = 0;
  for (int round = 0; round < rounds; ++round)
    for (int i = 0; i < lengths * shifts * ways; ++i, ++message) {
      const int bytes = length_of(i), way = i / lengths % ways;
      const int from = shift_of(i / (lengths * ways)) & ~3, to = shift_of(message);
      const int tag = message % 1000;
      if (rank == 0) {
        fill(d, message, bytes, from);
        MPI_Send(d.out + from, bytes, MPI_BYTE, 1, tag, MPI_COMM_WORLD);
        if (way == kept)
          MPI_Send(nullptr, 0, MPI_BYTE, 1, 1000, MPI_COMM_WORLD);
        continue;
      }
      clear(d);
      MPI_Status status;
      status.MPI_TAG = tag;
      if (way == plainly) {
        MPI_Recv(d.in + to, bytes, MPI_BYTE, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      } else if (way == grown) {
        MPI_Recv(d.in + to, room - to, MPI_BYTE, 0, tag, MPI_COMM_WORLD, &status);
      } else if (way == by_thread) {
        if (threadIdx.x == 37)
          MPI_Recv(d.in + to, bytes, MPI_BYTE, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      } else if (way == of_any) {
        MPI_Recv(d.in + to, bytes, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
      } else if (way == posted) {
        MPI_Request request;
        MPI_Irecv(d.in + to, bytes, MPI_BYTE, 0, tag, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
      } else if (way == kept) {
        MPI_Recv(nullptr, 0, MPI_BYTE, 0, 1000, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(d.in + to, bytes, MPI_BYTE, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      } else {
        int count;
        MPI_Probe(0, tag, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_BYTE, &count);
        if (count != bytes)
          atomicAdd(d.wrong, 1);
        MPI_Recv(d.in + to, count, MPI_BYTE, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      }
      if (status.MPI_TAG != tag)
        atomicAdd(d.wrong, 1);
      verify(d, message, bytes, to);
    }
}

/// Messages of two slots each, of which one is the ring's last and its first: another of one slot, in their midst, sees
/// to that.
__global__ void around(Dense d, int rank) {
  constexpr int words = 1256 / 4, messages = 4200;
  int *out = reinterpret_cast<int *>(d.out), *in = reinterpret_cast<int *>(d.in);
  for (int message = 0; message < messages; ++message) {
    const int count = message == messages / 2 ? 1 : words;
    if (rank == 0) {
      for (int i = threadIdx.x; i < count; i += blockDim.x)
        out[i] = message * words + i;
      MPI_Send(out, count, MPI_INT, 1, 8, MPI_COMM_WORLD);
    } else {
      MPI_Recv(in, count, MPI_INT, 0, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      for (int i = threadIdx.x; i < count; i += blockDim.x)
        if (in[i] != message * words + i)
          atomicAdd(d.wrong, 1);
    }
  }
}

/// Grids trade, and then send what they have received on: each block has its part of what is
/// written and verified.
__global__ void grids(Dense d, int rank) {
  const int thread = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
  for (int i = 0; i < lengths * shifts; ++i) {
    const int bytes = length_of(i), from = shift_of(i) & ~3, to = shift_of(i / shifts);
    for (int k = thread; k < bytes; k += threads)
      d.out[from + k] = pattern(i + rank, k);
    MPI_Sendrecv(d.out + from, bytes, MPI_BYTE, 1 - rank, 5, d.in + to, bytes, MPI_BYTE, 1 - rank, 5,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int k = thread; k < bytes; k += threads)
      if (d.in[to + k] != pattern(i + 1 - rank, k))
        atomicAdd(d.wrong, 1);
    if (rank == 0) {
      MPI_Status status;
      int count = -1;
      MPI_Send(d.in + to, bytes, MPI_BYTE, 1, 6, MPI_COMM_WORLD);
      MPI_Recv(d.in + to, room - to, MPI_BYTE, 1, 7, MPI_COMM_WORLD, &status);
      MPI_Get_count(&status, MPI_BYTE, &count);
      if (count != bytes || status.MPI_SOURCE != 1 || status.MPI_TAG != 7)
        atomicAdd(d.wrong, 1);
    } else {
      MPI_Request request;
      MPI_Recv(d.out + from, bytes, MPI_BYTE, 0, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Isend(d.out + from, bytes, MPI_BYTE, 0, 7, MPI_COMM_WORLD, &request);
      __syncthreads(); // so it is not left to the wait
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    const unsigned char *back = rank == 0 ? d.in + to : d.out + from;
    for (int k = thread; k < bytes; k += threads)
      if (back[k] != pattern(i + 1, k))
        atomicAdd(d.wrong, 1);
    MPI_Barrier(MPI_COMM_WORLD); // all blocks have looked
  }
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  Dense d{};
  CUDA_CHECK(cudaMalloc(&d.out, room));
  CUDA_CHECK(cudaMalloc(&d.in, room));
  CUDA_CHECK(cudaMalloc(&d.wrong, sizeof(int)));
  CUDA_CHECK(cudaMemset(d.wrong, 0, sizeof(int)));
  blocks<<<1, 150>>>(d, test::rank);
  CUDA_CHECK(cudaDeviceSynchronize());
  around<<<1, 96>>>(d, test::rank);
  CUDA_CHECK(cudaDeviceSynchronize());
  grids<<<3, 128>>>(d, test::rank);
  CUDA_CHECK(cudaDeviceSynchronize());
  int wrong = -1;
  CUDA_CHECK(cudaMemcpy(&wrong, d.wrong, sizeof wrong, cudaMemcpyDeviceToHost));
  test::expect(wrong == 0, "%d bytes are wrong", wrong);
  return test::end();
}
