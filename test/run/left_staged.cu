// Sends of a grid that are left to the next call by way of the proxy, some of them copied only once it
// has said where to: beside shorter ones, which must not overtake them; more at a time than copies are
// noted; by one block or all; in parts, where staging memory is short; by blocks of which threads have
// left. What comes, short messages too, is read all at once.
// RUN: %gmpicxx %s -o %t
// RUN: env GMPI_LOWER=queue GMPI_PEER=0 %ranks 1-3 %t
// RUN: env GMPI_LOWER=queue GMPI_PEER=0 GMPI_STAGING_MB=1 %ranks 2 %t
// RUN: env GMPI_LOWER=queue GMPI_PEER=0 GMPI_STAGING_MB=0 %ranks 2 %t
// RUN: env GMPI_LOWER=queue GMPI_PEER=0 not %mpiexec -n 2 %t truncates 2>&1 | FileCheck %s
#include "Inputs/messages.h"

#include <cstring>
#include <vector>

using test::fill, test::verify, test::Threads;

constexpr int guard = 16, most = 24;
constexpr test::Around around{guard, guard};

/// Messages of an exchange, one behind the other in memory, at addresses of 16 bytes, of words or of bytes.
struct Messages {
  int count, bytes[most], begin[most];
  int room; ///< more in each receive's buffer
};
enum Way { at_once, sends_first, one_by_one, with_statuses, ways };

/// (What its calls say is each thread's own: so they are left.)
__device__ void exchange(unsigned char *outs, unsigned char *ins, Messages messages, Way way, int rank, int next,
                         int previous, int turn, Threads threads, int *wrong) {
  const int count = messages.count;
  for (int i = 0; i < count; ++i)
    fill(outs + messages.begin[i], ins + messages.begin[i], messages.bytes[i], around, rank, turn, i, threads);
  MPI_Request requests[2 * most];
  MPI_Status statuses[2 * most];
  const int first_send = way == sends_first ? 0 : count, first_receive = count - first_send;
  // All with one tag, so that MPI's order alone says which is whose.
  if (way != sends_first)
    for (int i = 0; i < count; ++i)
      MPI_Irecv(ins + messages.begin[i], messages.bytes[i] + messages.room, MPI_BYTE, previous, 5, MPI_COMM_WORLD,
                &requests[first_receive + i]);
  for (int i = 0; i < count; ++i)
    MPI_Isend(outs + messages.begin[i], messages.bytes[i], MPI_BYTE, next, 5, MPI_COMM_WORLD,
              &requests[first_send + i]);
  if (way == sends_first)
    for (int i = 0; i < count; ++i)
      MPI_Irecv(ins + messages.begin[i], messages.bytes[i] + messages.room, MPI_BYTE, previous, 5, MPI_COMM_WORLD,
                &requests[first_receive + i]);
  if (way == one_by_one)
    for (int i = 2 * count - 1; i >= 0; --i)
      MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
  else if (way == with_statuses)
    MPI_Waitall(2 * count, requests, statuses);
  else
    MPI_Waitall(2 * count, requests, MPI_STATUSES_IGNORE);
  for (int i = 0; i < count; ++i) {
    verify(ins + messages.begin[i], messages.bytes[i], around, previous, turn, i, threads, wrong);
    if (way != with_statuses)
      continue;
    int got = -1;
    MPI_Get_count(&statuses[first_receive + i], MPI_BYTE, &got);
    if (got != messages.bytes[i])
      atomicAdd(wrong, 1);
  }
  for (int i = 0; i < 2 * count; ++i)
    if (requests[i] != MPI_REQUEST_NULL)
      atomicAdd(wrong, 1);
  MPI_Barrier(MPI_COMM_WORLD); // all blocks have looked
}

__global__ void exchanges(unsigned char *outs, unsigned char *ins, Messages messages, int rank, int next, int previous,
                          int *wrong) {
  for (int way = 0; way < ways; ++way)
    exchange(outs, ins, messages, Way(way), rank, next, previous, way, {test::number(), test::numbers()}, wrong);
}

/// Of every block, one thread in five.
__global__ void without_some(unsigned char *outs, unsigned char *ins, Messages messages, int rank, int next,
                             int previous, int *wrong) {
  const int staying = blockDim.x / 5;
  if (threadIdx.x % 5 != 0 || int(threadIdx.x) >= 5 * staying)
    return;
  const Threads threads{int(blockIdx.x) * staying + int(threadIdx.x) / 5, int(gridDim.x) * staying};
  exchange(outs, ins, messages, at_once, rank, next, previous, 7, threads, wrong);
}

/// The last of several is longer than the receive's buffer.
__global__ void truncated(unsigned char *out, unsigned char *in, int rank) {
  MPI_Request requests[3];
  for (int i = 0; i < 3; ++i)
    if (rank == 0)
      MPI_Isend(out, 100000, MPI_BYTE, 1, i, MPI_COMM_WORLD, &requests[i]);
    else
      MPI_Irecv(in + 100000 * i, i < 2 ? 100000 : 90000, MPI_BYTE, 0, i, MPI_COMM_WORLD, &requests[i]);
  // CHECK: gmpi: rank 1: MPI_Irecv failed in a kernel, at {{.*}}left_staged.cu:[[@LINE-1]] (grid scope): {{.*}}runcat
  MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
}

static Messages messages_of(std::vector<int> bytes, int shift, int room) {
  Messages messages{};
  messages.room = room;
  int begin = guard;
  for (int length : bytes) {
    messages.begin[messages.count] = begin + shift;
    messages.bytes[messages.count++] = length;
    begin = (begin + shift + length + 2 * guard + 15) / 16 * 16;
  }
  return messages;
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  constexpr std::size_t memory = 12 << 20;
  test::Array<unsigned char> out(memory), in(memory);
  test::Array<int> wrong(1);
  wrong.write({0});
  if (argc > 1 && std::strcmp(argv[1], "truncates") == 0) {
    truncated<<<2, 64>>>(out.data(), in.data(), test::rank);
    test::synchronize();
    return test::end();
  }
  const std::vector<int> lengths[] = {
      {16384, 16385},
      {100000, 8, 100000, 5000, 20000, 0, 40004, 3},
      {65536, 65537, 65535, 30000, 16388, 16384, 1, 131072},
      std::vector<int>(most, 20000),
      {90000},
      {1048576, 100, 3000001, 70000},
      // Short ones, which come beside their Replies: a lane reads one, all of a warp, or some lanes each.
      {1488},
      {73, 1487},
      {1000, 100, 385},
      std::vector<int>(6, 512),
      {500, 1488, 74, 1489, 9, 10, 11, 72, 384, 385, 95, 1100, 128, 0, 4000, 97, 333, 1401, 200},
  };
  int shift = 0;
  for (const std::vector<int> &bytes : lengths)
    for (int threads : {256, 40, 160}) {
      if (bytes[0] > 1000000 && threads != 256) // (which takes long)
        continue;
      const Messages messages = messages_of(bytes, shift, 8);
      shift = shift == 0 ? 4 : shift == 4 ? 1 : 0;
      for (int blocks : {1, 3})
        exchanges<<<blocks, threads>>>(out.data(), in.data(), messages, test::rank, test::next(), test::previous(),
                                       wrong.data());
      without_some<<<2, threads>>>(out.data(), in.data(), messages, test::rank, test::next(), test::previous(),
                                   wrong.data());
      test::synchronize();
      test::expect_each(wrong, [](int) { return 0; }, "bytes and statuses");
      if (test::failures != 0)
        std::fprintf(stderr, "%d messages, the first of %d bytes, %d threads\n", messages.count, bytes[0], threads);
    }
  return test::end();
}
