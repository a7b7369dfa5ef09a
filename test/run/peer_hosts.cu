// Messages between kernels of ranks on several hosts: receivers match those of their own host and those of
// others together. Ranks take turns on two hosts that are this one.
// LOWERINGS: queue (split kernels leave such communicators to the queue)
// RUN: %gmpicxx %s -o %t
// RUN: env GMPI_HOSTS_FOR_TESTS=2 GMPI_PEER=1 %ranks 2-4 %t
// RUN: env GMPI_HOSTS_FOR_TESTS=3 %ranks 3-4 %t asserted
// RUN: env GMPI_HOSTS_FOR_TESTS=2 GMPI_PEER=1 GMPI_STATS=1 %mpiexec -n 2 %t few 2>&1 | FileCheck %s --implicit-check-not='{{^gmpi: rank 1:}}'
// RUN: env GMPI_HOSTS_FOR_TESTS=2 GMPI_PEER=1 GMPI_STALL=1 not %mpiexec -n 3 %t cycle 2>&1 | FileCheck %s --check-prefix=CYCLE
// RUN: env GMPI_HOSTS_FOR_TESTS=2 GMPI_PEER=1 GMPI_STALL=1 not %mpiexec -n 2 %t finished 2>&1 | FileCheck %s --check-prefix=FINISHED
// RUN: env GMPI_HOSTS_FOR_TESTS=2 GMPI_PEER=1 GMPI_STALL=1 GMPI_TIMEOUT=4 not %mpiexec -n 2 %t full 2>&1 | FileCheck %s --check-prefix=FULL
//
// CHECK-DAG: {{^}}gmpi: rank 1: kernel few ({{.*}}), queue: 1 launches, 0 MPI calls
// CHECK-DAG: {{^}}gmpi: rank 1: from kernel to kernel: 4 messages and collective calls, 160024 bytes sent{{$}}
// CHECK-DAG: {{^}}gmpi: rank 1: of these, by way of the hosts: 2 messages and 1 parts of collective calls, 160016 bytes{{$}}
// CHECK-DAG: {{^}}gmpi: rank 1: completions lie in the host's memory{{$}}
// CHECK-DAG: {{^}}gmpi: rank 1: of these messages, 0 long ones were stored where they belong, and 1 went through a ring{{$}}
//
// CYCLE: gmpi: rank 0: deadlock: rank 0 waits in MPI_Recv from rank 1, tag 0 (grid scope, {{[^ ]*}}peer_hosts.cu:176, for {{[0-9]+}} s); rank 1 waits in MPI_Recv from rank 2, tag 0 (grid scope, {{[^ ]*}}peer_hosts.cu:176, for {{[0-9]+}} s); rank 2 waits in MPI_Recv from rank 0, tag 0 (grid scope, {{[^ ]*}}peer_hosts.cu:176, for {{[0-9]+}} s){{$}}
// FINISHED: gmpi: rank 0: waits in MPI_Recv from rank 1, tag 0 (grid scope, {{[^ ]*}}peer_hosts.cu:176, for {{[0-9]+}} s) for rank 1, which has finished{{$}}
// FULL: gmpi: rank 0: no progress for {{[0-9]+}} s, GMPI_TIMEOUT is passed; outstanding calls:
// FULL-NEXT: MPI_Send to rank 1, tag 3 (grid scope, {{.*}}peer_hosts.cu:
#include "Inputs/check.h"

#include <cstring>
#include <vector>

constexpr int turns = test::thread_sanitizer ? 15 : 60;

__device__ int value_of(int rank, int turn, int i) { return 1000000 * rank + 1000 * turn + i % 997; }

/// Around what a warp carries, a slot holds, a block carries at once, and what is announced.
__device__ int length_of(int turn, int rank) {
  const int lengths[] = {1, 58, 59, 0, 300, 1024, 16384, 16385, 3, 40000};
  return lengths[(turn + rank) % 10];
}

__global__ void send_to_0(int *data, int rank, MPI_Comm comm) {
  const int thread = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
  for (int turn = 0; turn < turns; ++turn) {
    const int length = length_of(turn, rank);
    for (int i = thread; i < length; i += threads)
      data[i] = value_of(rank, turn, i);
    if (turn % 5 == 3)
      MPI_Ssend(data, length, MPI_INT, 0, turn % 2, comm);
    else
      MPI_Send(data, length, MPI_INT, 0, turn % 2, comm);
  }
  MPI_Barrier(comm); // what is sent later is not for from_any()
}

/// From all other ranks, those of both hosts among them, as they come: of each, in order.
__global__ void from_any(int *data, int room, int *next_of, int messages, int *wrong, MPI_Comm comm) {
  const int thread = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
  for (int message = 0; message < messages; ++message) {
    MPI_Status status;
    MPI_Recv(data, room, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &status);
    int count = -1;
    MPI_Get_count(&status, MPI_INT, &count);
    const int from = status.MPI_SOURCE, turn = next_of[from];
    if (count != length_of(turn, from) || status.MPI_TAG != turn % 2)
      atomicAdd(wrong, 1);
    for (int i = thread; i < count; i += threads)
      if (data[i] != value_of(from, turn, i))
        atomicAdd(wrong, 1);
    MPI_Barrier(MPI_COMM_SELF); // all have looked
    if (thread == 0)
      ++next_of[from];
    MPI_Barrier(MPI_COMM_SELF);
  }
  MPI_Barrier(comm);
}

/// Longer than a ring holds, each to the next and from the previous, one of them synchronous.
__global__ void beyond_a_ring(unsigned char *data, unsigned char *got, int length, int rank, int next,
                              int previous, int *wrong, MPI_Comm comm) {
  const int thread = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
  for (int i = thread; i < length; i += threads)
    data[i] = static_cast<unsigned char>(i * 7 + i / 251 + rank);
  MPI_Barrier(comm);
  MPI_Request receive;
  MPI_Irecv(got, length, MPI_BYTE, MPI_ANY_SOURCE, 1, comm, &receive);
  MPI_Ssend(data, length, MPI_BYTE, next, 1, comm);
  MPI_Wait(&receive, MPI_STATUS_IGNORE);
  for (int i = thread; i < length; i += threads)
    if (got[i] != static_cast<unsigned char>(i * 7 + i / 251 + previous))
      atomicAdd(wrong, 1);
}

/// What does not fit is dropped: short, and long.
__global__ void truncated(int *data, int *got, int length, int next, int previous, int *wrong,
                          MPI_Comm comm) {
  const bool first = blockIdx.x == 0 && threadIdx.x == 0;
  if (first)
    got[length / 2] = 77;
  MPI_Request request;
  MPI_Isend(data, length, MPI_INT, next, 2, comm, &request);
  int error = MPI_Recv(got, length / 2, MPI_INT, previous, 2, comm, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (first && (error == MPI_SUCCESS || got[length / 2] != 77))
    atomicAdd(wrong, 1);
}

/// Each block, and one thread of each, with partners of their own.
__global__ void by_block(int *data, int *got, int messages, int next, int previous, int *wrong,
                         MPI_Comm comm) {
  int *mine = data + 256 * blockIdx.x, *its = got + 256 * blockIdx.x;
  for (int m = 0; m < messages; ++m) {
    for (int i = threadIdx.x; i < 200; i += blockDim.x)
      mine[i] = m + i;
    __syncthreads();
    if (m % 3 != 0) {
#pragma gmpi scope(block)
      MPI_Sendrecv(mine, 200, MPI_INT, next, blockIdx.x, its, 200, MPI_INT, previous, blockIdx.x, comm,
                   MPI_STATUS_IGNORE);
    } else if (threadIdx.x == 0) {
      MPI_Send(mine, 200, MPI_INT, next, blockIdx.x, comm);
      MPI_Recv(its, 200, MPI_INT, previous, blockIdx.x, comm, MPI_STATUS_IGNORE);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < 200; i += blockDim.x)
      if (its[i] != m + i)
        atomicAdd(wrong, 1);
    __syncthreads();
  }
}

/// Collective calls that a warp, a block and all blocks carry, and those of several rounds; parts that
/// some ranks need and others do not.
__global__ void collect(int *data, int *got, int n, int rank, int size, int *wrong, MPI_Comm comm) {
  const int thread = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
  const int total = size * (size + 1) / 2;
  for (int root = 0; root < size; ++root) {
    for (int i = thread; i < n; i += threads)
      data[i] = (rank + 1) * (i % 1000);
    MPI_Reduce(data, got, n, MPI_INT, MPI_SUM, root, comm);
    if (rank == root)
      for (int i = thread; i < n; i += threads)
        if (got[i] != total * (i % 1000))
          atomicAdd(wrong, 1);
    MPI_Bcast(data, n, MPI_INT, root, comm);
    for (int i = thread; i < n; i += threads)
      if (data[i] != (root + 1) * (i % 1000))
        atomicAdd(wrong, 1);
    MPI_Allreduce(data, got, n, MPI_INT, MPI_MAX, comm);
    for (int i = thread; i < n; i += threads)
      if (got[i] != (root + 1) * (i % 1000))
        atomicAdd(wrong, 1);
    MPI_Barrier(comm);
  }
}

/// Ends when it has sent.
__global__ void send_only(int *data, int messages, int to, MPI_Comm comm) {
  for (int m = 0; m < messages; ++m)
    MPI_Send(data + m, 1, MPI_INT, to, 3, comm);
}
__global__ void receive_only(int *got, int messages, int from, MPI_Comm comm) {
  for (int m = 0; m < messages; ++m)
    MPI_Recv(got + m, 1, MPI_INT, from, 3, comm, MPI_STATUS_IGNORE);
}

/// Two messages, of 16 and of 160000 bytes; one to this rank itself; one collective call.
__global__ void few(int *data, int rank, int next) {
  MPI_Request request;
  MPI_Irecv(data + 50000, 40000, MPI_INT, next, 5, MPI_COMM_WORLD, &request);
  MPI_Sendrecv(data, 4, MPI_INT, next, 4, data + 100, 4, MPI_INT, next, 4, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  MPI_Sendrecv(data, 1, MPI_INT, rank, 6, data + 100, 1, MPI_INT, rank, 6, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  MPI_Send(data, 40000, MPI_INT, next, 5, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Allreduce(data, data + 100, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

__global__ void hang(int *data, int from) {
  MPI_Recv(data, 1, MPI_INT, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // line 176
}

static void exchange_all(MPI_Comm comm, const char *where) {
  int rank, size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
  // ThreadSanitizer keeps a kilobyte for each word of a ring.
  constexpr int room = 100000, ring = (test::thread_sanitizer ? 1 : 9) << 20;
  test::Array<int> data(room, rank), got(room, -1), next_of(size, 0), wrong(1);
  if (rank == 0)
    from_any<<<3, 64>>>(data.data(), room, next_of.data(), turns * (size - 1), wrong.data(), comm);
  else
    send_to_0<<<3, 64>>>(data.data(), rank, comm);
  for (int length : {20, 3000, 30000})
    truncated<<<2, 64>>>(data.data(), got.data(), length, next, previous, wrong.data(), comm);
  by_block<<<3, 64>>>(data.data(), got.data(), 20, next, previous, wrong.data(), comm);
  for (int n : {1, 300, 10000, 40000})
    collect<<<3, 128>>>(data.data(), got.data(), n, rank, size, wrong.data(), comm);
  test::synchronize();
  test::expect(wrong.read()[0] == 0, "%d wrong values on %s", wrong.read()[0], where);
  test::Array<unsigned char> bytes(ring), received(ring);
  beyond_a_ring<<<3, 128>>>(bytes.data(), received.data(), ring, rank, next, previous, wrong.data(),
                            comm);
  test::synchronize();
  test::expect(wrong.read()[0] == 0, "%d wrong bytes beyond a ring on %s", wrong.read()[0], where);
  test::Array<int> sent(200, rank), arrived(200, -1);
  send_only<<<2, 32>>>(sent.data(), 200, next, comm);
  test::synchronize();
  MPI_Barrier(MPI_COMM_WORLD); // all of these kernels have ended
  receive_only<<<2, 32>>>(arrived.data(), 200, previous, comm);
  test::synchronize();
  test::expect_each(arrived, [&](int) { return previous; }, "sent by a kernel that has ended");
}

/// Communicators come and go, of ranks of one host and of both.
static void come_and_go() {
  for (int round = 0; round < 8; ++round) {
    MPI_Comm comm;
    MPI_Comm_split(MPI_COMM_WORLD, round % 2 == 0 ? test::rank % 2 : test::rank / 2, -test::rank, &comm);
    test::assert_kernel_only(comm);
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
    test::Array<int> data(1000, rank), got(1000, -1), wrong(1);
    send_only<<<2, 32>>>(data.data(), 5, next, comm); // four that nobody receives
    receive_only<<<2, 32>>>(got.data(), 1, previous, comm);
    collect<<<2, 64>>>(data.data(), got.data(), 300, rank, size, wrong.data(), comm);
    test::synchronize();
    test::expect(wrong.read()[0] == 0, "%d wrong values in round %d", wrong.read()[0], round);
    MPI_Comm_free(&comm);
  }
}

static int end_now() {
  cudaDeviceSynchronize();
  MPI_Finalize();
  return 0;
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  const char *what = argc > 1 ? argv[1] : "";
  test::Array<int> data(100000);
  if (!strcmp(what, "few")) {
    few<<<2, 32>>>(data.data(), test::rank, test::next());
    return end_now();
  }
  if (!strcmp(what, "cycle") || !strcmp(what, "finished")) {
    if (what[0] == 'c' || test::rank == 0)
      hang<<<2, 32>>>(data.data(), test::next());
    return end_now();
  }
  if (!strcmp(what, "full")) { // rank 1 never receives
    if (test::rank == 0)
      send_only<<<2, 32>>>(data.data(), 50000, 1, MPI_COMM_WORLD);
    else
      MPI_Recv(&argc, 1, MPI_INT, 0, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return end_now();
  }
  MPI_Comm other;
  MPI_Comm_dup(MPI_COMM_WORLD, &other);
  if (!strcmp(what, "asserted")) {
    test::assert_kernel_only(other);
  } else {
    exchange_all(MPI_COMM_WORLD, "MPI_COMM_WORLD");
    come_and_go();
  }
  exchange_all(other, "another communicator");
  MPI_Comm_free(&other);
  return test::end();
}
