// Exchanges of any kind between grids: how many messages, how long, of and into which memory, at which
// addresses, between which ranks, in which order, and how each rank makes them and waits for them, all
// by chance. Each receive gets the message that MPI's order says, and nothing beside it is written.
// Arguments: the first seed, how many seeds, how long messages may be.
// LOWERINGS: queue (split kernels leave such communicators to the queue)
// RUN: %gmpicxx %s -o %t
// RUN: env GMPI_PEER=1 %ranks 1-4 %t 1 12 300000
// RUN: env GMPI_PEER=1 %ranks 1-4 %t 400 12 700
// RUN: env GMPI_PEER=1 %mpiexec -n 2 %t 100 3 9000000
// RUN: env GMPI_PEER=1 GMPI_HOSTS_FOR_TESTS=2 %mpiexec -n 3 %t 200 6 100000
// RUN: env GMPI_PEER=0 %mpiexec -n 2 %t 300 4 100000
// RUN: env GMPI_PEER=0 GMPI_STAGING_MB=1 %mpiexec -n 3 %t 340 3 400000
#include "Inputs/check.h"

#include <algorithm>
#include <cmath>
#include <random>

constexpr int most = 12;         ///< messages of a rank, each way
constexpr int turns = 6;         ///< exchanges of a kernel
constexpr int guard = 8;         ///< bytes on both sides of what is received, which stay
constexpr int arena = 128 << 20; ///< bytes of one kind of memory

__device__ unsigned char fixed_data[arena], fixed_got[arena]; // no other process can map these

/// A message as one side has it. `where`: offset into its kind of memory.
struct End {
  int bytes, room, peer, tag, number;
  int wanted_peer, wanted_tag; ///< what the receive asks for
  bool fixed;
  int where;
};
enum Way { at_once, with_statuses, sends_first, one_by_one, blocking_sends, blocking_receives, in_turn, ways };
/// What a rank does in an exchange.
struct Part {
  int sends, receives, way;
  End send[most], receive[most];
};
struct Memory {
  unsigned char *data[2], *got[2]; ///< what can be mapped, and what cannot
};

__device__ unsigned char byte_of(int number, int i) { return static_cast<unsigned char>(37 * number + i + i / 253); }

__device__ void fill(const Part &part, const Memory &memory) {
  const int thread = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
  for (int m = 0; m < part.sends; ++m) {
    const End &its = part.send[m];
    for (int i = thread; i < its.bytes; i += threads)
      memory.data[its.fixed][its.where + i] = byte_of(its.number, i);
  }
  for (int m = 0; m < part.receives; ++m) {
    const End &its = part.receive[m];
    for (int i = thread - guard; i < its.room + guard; i += threads)
      memory.got[its.fixed][its.where + i] = 111;
  }
}

__device__ void look(const Part &part, const Memory &memory, int *wrong) {
  const int thread = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
  for (int m = 0; m < part.receives; ++m) {
    const End &its = part.receive[m];
    for (int i = thread - guard; i < its.room + guard; i += threads)
      if (memory.got[its.fixed][its.where + i] !=
          (i >= 0 && i < its.bytes ? byte_of(its.number, i) : static_cast<unsigned char>(111)))
        atomicAdd(wrong, 1);
  }
}

__device__ void look_at(const MPI_Status &status, const End &its, int *wrong) {
  int count = -1;
  MPI_Get_count(&status, MPI_BYTE, &count);
  if (count != its.bytes || status.MPI_SOURCE != its.peer || status.MPI_TAG != its.tag)
    atomicAdd(wrong, 1);
}

__global__ void exchange(const Part *parts, Memory memory, MPI_Comm comm, int *wrong) {
  for (int turn = 0; turn < turns; ++turn) {
    const Part part = parts[turn]; // its own: so calls are left to the next one
    MPI_Request all[2 * most];
    MPI_Status statuses[2 * most];
    fill(part, memory);
#pragma gmpi scope(grid)
    MPI_Barrier(comm);
    const int receives = part.receives, sends = part.sends;
    if (part.way == sends_first) {
      for (int m = 0; m < sends; ++m) {
#pragma gmpi scope(grid)
        MPI_Isend(memory.data[part.send[m].fixed] + part.send[m].where, part.send[m].bytes, MPI_BYTE,
                  part.send[m].peer, part.send[m].tag, comm, &all[receives + m]);
      }
      for (int m = 0; m < receives; ++m) {
#pragma gmpi scope(grid)
        MPI_Irecv(memory.got[part.receive[m].fixed] + part.receive[m].where, part.receive[m].room, MPI_BYTE,
                  part.receive[m].wanted_peer, part.receive[m].wanted_tag, comm, &all[m]);
      }
#pragma gmpi scope(grid)
      MPI_Waitall(receives + sends, all, MPI_STATUSES_IGNORE);
    } else if (part.way == blocking_sends) {
      for (int m = 0; m < receives; ++m) {
#pragma gmpi scope(grid)
        MPI_Irecv(memory.got[part.receive[m].fixed] + part.receive[m].where, part.receive[m].room, MPI_BYTE,
                  part.receive[m].wanted_peer, part.receive[m].wanted_tag, comm, &all[m]);
      }
      for (int m = 0; m < sends; ++m) {
#pragma gmpi scope(grid)
        MPI_Send(memory.data[part.send[m].fixed] + part.send[m].where, part.send[m].bytes, MPI_BYTE,
                 part.send[m].peer, part.send[m].tag, comm);
      }
#pragma gmpi scope(grid)
      MPI_Waitall(receives, all, MPI_STATUSES_IGNORE);
    } else if (part.way == blocking_receives) {
      for (int m = 0; m < sends; ++m) {
#pragma gmpi scope(grid)
        MPI_Isend(memory.data[part.send[m].fixed] + part.send[m].where, part.send[m].bytes, MPI_BYTE,
                  part.send[m].peer, part.send[m].tag, comm, &all[m]);
      }
      for (int m = 0; m < receives; ++m) {
        MPI_Status status;
#pragma gmpi scope(grid)
        MPI_Recv(memory.got[part.receive[m].fixed] + part.receive[m].where, part.receive[m].room, MPI_BYTE,
                 part.receive[m].wanted_peer, part.receive[m].wanted_tag, comm, &status);
        look_at(status, part.receive[m], wrong);
      }
#pragma gmpi scope(grid)
      MPI_Waitall(sends, all, MPI_STATUSES_IGNORE);
    } else if (part.way == in_turn) {
      for (int m = 0; m < receives || m < sends; ++m) {
        if (m < receives) {
#pragma gmpi scope(grid)
          MPI_Irecv(memory.got[part.receive[m].fixed] + part.receive[m].where, part.receive[m].room, MPI_BYTE,
                    part.receive[m].wanted_peer, part.receive[m].wanted_tag, comm, &all[m]);
        }
        if (m < sends) {
#pragma gmpi scope(grid)
          MPI_Isend(memory.data[part.send[m].fixed] + part.send[m].where, part.send[m].bytes, MPI_BYTE,
                    part.send[m].peer, part.send[m].tag, comm, &all[receives + m]);
        }
      }
#pragma gmpi scope(grid)
      MPI_Waitall(receives + sends, all, statuses);
      for (int m = 0; m < receives; ++m)
        look_at(statuses[m], part.receive[m], wrong);
    } else {
      for (int m = 0; m < receives; ++m) {
#pragma gmpi scope(grid)
        MPI_Irecv(memory.got[part.receive[m].fixed] + part.receive[m].where, part.receive[m].room, MPI_BYTE,
                  part.receive[m].wanted_peer, part.receive[m].wanted_tag, comm, &all[m]);
      }
      for (int m = 0; m < sends; ++m) {
#pragma gmpi scope(grid)
        MPI_Isend(memory.data[part.send[m].fixed] + part.send[m].where, part.send[m].bytes, MPI_BYTE,
                  part.send[m].peer, part.send[m].tag, comm, &all[receives + m]);
      }
      if (part.way == at_once) {
#pragma gmpi scope(grid)
        MPI_Waitall(receives + sends, all, MPI_STATUSES_IGNORE);
      } else if (part.way == with_statuses) {
#pragma gmpi scope(grid)
        MPI_Waitall(receives + sends, all, statuses);
        for (int m = 0; m < receives; ++m)
          look_at(statuses[m], part.receive[m], wrong);
      } else {
        for (int m = 0; m < receives + sends; ++m) {
#pragma gmpi scope(grid)
          MPI_Wait(&all[m], &statuses[0]);
          if (m < receives)
            look_at(statuses[0], part.receive[m], wrong);
        }
      }
    }
    look(part, memory, wrong); // each block what others may have written: all have met
#pragma gmpi scope(grid)
    MPI_Barrier(comm); // the memory is used again
  }
}

/// The parts of all ranks in one exchange. The same on each.
class Exchange {
public:
  Exchange(std::mt19937 &random, int ranks, int longest) : random(random), longest(longest), parts(ranks) {
    // Mostly all do alike, as programs do.
    const bool alike = below(3) != 0;
    const int way = below(ways), count = 1 + below(most), shape = below(3), length = length_by_chance();
    const bool one_length = below(2) == 0, one_kind = below(2) == 0, fixed = below(2) == 0;
    for (Part &part : parts)
      part.way = alike ? way : below(ways);
    for (int m = 0; m < count; ++m)
      for (int from = 0; from < ranks; ++from) {
        const int to = shape == 0 ? (from + 1) % ranks : shape == 1 ? (from ^ 1) % ranks : below(ranks);
        add(from, to, m, one_length ? length : length_by_chance(), one_kind ? fixed : below(2) == 0);
      }
    const bool in_order = below(2) == 0;
    for (int to = 0; to < ranks; ++to)
      order_receives(to, in_order);
    // Who sends one behind the other may wait for who receives so, in another order.
    if (!in_order &&
        std::any_of(parts.begin(), parts.end(), [](const Part &part) { return part.way == blocking_receives; }))
      for (Part &part : parts)
        part.way = part.way == blocking_sends ? at_once : part.way;
    for (Part &part : parts) {
      place(part.send, part.sends);
      place(part.receive, part.receives);
    }
  }
  const Part &of(int rank) const { return parts[rank]; }

private:
  int below(int end) { return static_cast<int>(random() % static_cast<unsigned>(end)); }

  /// Any length, and each order of magnitude as often.
  int length_by_chance() {
    const int bytes = static_cast<int>(std::exp(below(1000) * 1e-3 * std::log(longest + 1.0))) - 1;
    return below(2) == 0 ? bytes & ~15 : bytes;
  }

  void add(int from, int to, int m, int bytes, bool fixed) {
    Part &sender = parts[from], &receiver = parts[to];
    if (sender.sends == most || receiver.receives == most || sent[from] + bytes > arena / 3 ||
        received[to] + bytes > arena / 3)
      return;
    sent[from] += bytes;
    received[to] += bytes;
    const int tag = below(2) == 0 ? m : below(3), number = 100 * from + 13 * m + below(7);
    const int room = below(3) != 0 ? bytes : bytes + below(bytes + 1);
    const bool its = below(8) != 0 ? fixed : !fixed;
    sender.send[sender.sends++] = {bytes, bytes, to, tag, number, 0, 0, fixed, 0};
    receiver.receive[receiver.receives++] = {bytes, room, from, tag, number, from, tag, its, 0};
  }

  /// Receives stand in the order in which their messages are sent. Those of one rank and tag stay so.
  void order_receives(int to, bool in_order) {
    Part &part = parts[to];
    std::vector<End> those(part.receive, part.receive + part.receives);
    const int how = in_order ? 3 * below(2) : below(4);
    if (how == 1) // rank by rank
      std::stable_sort(those.begin(), those.end(), [](const End &a, const End &b) { return a.peer < b.peer; });
    if (how == 2) // tag by tag
      std::stable_sort(those.begin(), those.end(), [](const End &a, const End &b) { return a.tag > b.tag; });
    if (how == 3 && below(2) == 0) { // in the order in which each rank sends: so any tag is the right one
      for (End &its : those)
        its.wanted_tag = MPI_ANY_TAG;
    } else if (how == 3) {
      // Of a tag that one rank alone sends, any source is the right one.
      for (End &its : those)
        if (std::all_of(those.begin(), those.end(),
                        [&](const End &other) { return other.tag != its.tag || other.peer == its.peer; }))
          its.wanted_peer = MPI_ANY_SOURCE;
    }
    std::copy(those.begin(), those.end(), part.receive);
  }

  /// Puts them where there is room in their kinds of memory, with a guard between them.
  void place(End *ends, int count) {
    int next[2] = {guard, guard};
    for (int m = 0; m < count; ++m) {
      int &at = next[ends[m].fixed];
      at = below(3) == 0 ? at + below(40) : (at + 15) / 16 * 16;
      ends[m].where = at;
      at += ends[m].room + 2 * guard;
    }
  }

  std::mt19937 &random;
  int longest;
  std::vector<Part> parts;
  std::vector<long> sent = std::vector<long>(64), received = sent;
};

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  const unsigned first = argc > 1 ? std::atoi(argv[1]) : 1, seeds = argc > 2 ? std::atoi(argv[2]) : 1;
  const int longest = argc > 3 ? std::atoi(argv[3]) : 300000, blocks = argc > 4 ? std::atoi(argv[4]) : 6;
  test::Array<Part> parts(turns);
  test::Array<int> wrong(1);
  Memory memory;
  CUDA_CHECK(cudaMalloc(&memory.data[0], arena));
  CUDA_CHECK(cudaMalloc(&memory.got[0], arena));
  CUDA_CHECK(cudaGetSymbolAddress(reinterpret_cast<void **>(&memory.data[1]), fixed_data));
  CUDA_CHECK(cudaGetSymbolAddress(reinterpret_cast<void **>(&memory.got[1]), fixed_got));
  for (unsigned seed = first; seed < first + (test::thread_sanitizer ? (seeds + 3) / 4 : seeds); ++seed) {
    std::mt19937 random(seed), own(seed + 1000 * test::rank);
    std::vector<Part> mine;
    for (int turn = 0; turn < turns; ++turn)
      mine.push_back(Exchange(random, test::size, longest).of(test::rank));
    parts.write(mine);
    wrong.write({0});
    const int grid = 1 + own() % blocks, threads[] = {32, 64, 96, 80, 128};
    exchange<<<grid, threads[own() % 5]>>>(parts.data(), memory, MPI_COMM_WORLD, wrong.data());
    test::synchronize();
    test::expect(wrong.read()[0] == 0, "seed %u: %d bytes or statuses are wrong", seed, wrong.read()[0]);
  }
  CUDA_CHECK(cudaFree(memory.data[0]));
  CUDA_CHECK(cudaFree(memory.got[0]));
  return test::end();
}
