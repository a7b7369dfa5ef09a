// Messages a second where many threads send 8 bytes each, to the thread of the same number on the
// other rank; beside one host thread that sends as many. Threads receive as they come to it, so MPI
// has to look for each message among those that are there: the host's second column does that, too.
#include "bench.h"

#include <algorithm>
#include <numeric>
#include <random>

using bench::Role;

__host__ __device__ static long long value(int thread, int message) {
  return 1000003ll * thread + message;
}

/// Rank 0's threads send, rank 1's receive; the tag is the thread's number.
static __global__ void send_or_receive(bool sends, int peer, int messages, MPI_Comm comm,
                                       unsigned *wrong) {
  int thread = blockIdx.x * blockDim.x + threadIdx.x;
  for (int i = 0; i < messages; ++i) {
    long long number = sends ? value(thread, i) : -1;
    if (sends) {
      MPI_Send(&number, 1, MPI_LONG_LONG, peer, thread, comm);
    } else {
      MPI_Recv(&number, 1, MPI_LONG_LONG, peer, thread, comm, MPI_STATUS_IGNORE);
      if (number != value(thread, i))
        atomicAdd(wrong, 1u);
    }
  }
}

/// The numbers of all threads, each once; the same at every start.
static std::vector<int> shuffled(int threads) {
  std::vector<int> numbers(threads);
  std::iota(numbers.begin(), numbers.end(), 0);
  std::shuffle(numbers.begin(), numbers.end(), std::mt19937());
  return numbers;
}

/// The same messages, from one host thread to another, which receives those of each round in
/// `order`; returns how many are wrong.
static unsigned host_messages(bool sends, int peer, const std::vector<int> &order, int messages) {
  unsigned wrong = 0;
  const int threads = static_cast<int>(order.size());
  for (int i = 0; i < messages; ++i)
    for (int k = 0; k < threads; ++k) {
      const int thread = sends ? k : order[k];
      long long number = sends ? value(thread, i) : -1;
      if (sends)
        MPI_Send(&number, 1, MPI_LONG_LONG, peer, thread, MPI_COMM_WORLD);
      else
        MPI_Recv(&number, 1, MPI_LONG_LONG, peer, thread, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      wrong += number != value(thread, i);
    }
  return wrong;
}

static void line(bench::Bench &bench, int blocks, int threads, int messages,
                 const bench::KernelsComm &kernels) {
  const bool sends = bench.rank == 0;
  const int peer = 1 - bench.rank, all = blocks * threads;
  messages = bench.options.integer("iterations", messages);
  bench::Array<unsigned> wrong(1, bench::Memory::pinned);
  auto rate = [&](const char *what, auto run) {
    *wrong.data() = 0;
    bench::Sample sample = bench.measure(1ll * messages * all, run).into(1e3);
    bench.wrong(what, *wrong.data(), "messages");
    return sample;
  };
  auto by_threads = [&](const char *what, MPI_Comm comm) {
    return rate(what, [&] {
      send_or_receive<<<blocks, threads>>>(sends, peer, messages, comm, wrong.data());
      bench::synchronize();
    });
  };
  auto by_host = [&](const char *what, const std::vector<int> &order) {
    return rate(what, [&] { *wrong.data() += host_messages(sends, peer, order, messages); });
  };
  std::vector<int> in_order(all);
  std::iota(in_order.begin(), in_order.end(), 0);
  const bench::Cell queue = by_threads("by thread, queue", MPI_COMM_WORLD);
  bench::Cell carried;
  if (kernels.available())
    carried = by_threads("by thread, peer", kernels.get());
  bench.row({all, queue, carried, by_host("host MPI", in_order),
             by_host("host MPI, shuffled", shuffled(all))});
}

void experiments::msgrate(bench::Bench &bench) {
  bench::KernelsComm kernels;
  bench.table(
      "8-byte messages a second between kernels, one sender a thread",
      {{"threads", "", Role::x},
       {"queue", "thousand/s", Role::ours},
       {"peer", "thousand/s", Role::ours},
       {"host MPI, one thread", "thousand/s", Role::limit},
       {"host MPI, received in another order", "thousand/s", Role::limit}},
      bench::note({kernels.why_not(),
                   "Each thread's messages have a tag of their own, which MPI has to find."}));
  bench::PreferredLowering preferred("queue");
  line(bench, 1, 1, 200, kernels);
  line(bench, 1, 32, 50, kernels);
  int threads = bench.threads();
  for (int blocks : {1, 4, 16})
    if (blocks <= bench.blocks())
      line(bench, blocks, threads, 10, kernels);
}
