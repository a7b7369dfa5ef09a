// Messages a second where many threads send 8 bytes each, to the thread of the same number on the
// other rank; beside one host thread that sends as many.
#include "bench.h"

using bench::Role;

__host__ __device__ static long long value(int thread, int message) {
  return 1000003ll * thread + message;
}

/// Rank 0's threads send, rank 1's receive; the tag is the thread's number.
static __global__ void send_or_receive(bool sends, int peer, int messages, unsigned *wrong) {
  int thread = blockIdx.x * blockDim.x + threadIdx.x;
  for (int i = 0; i < messages; ++i) {
    long long number = sends ? value(thread, i) : -1;
    if (sends) {
      MPI_Send(&number, 1, MPI_LONG_LONG, peer, thread, MPI_COMM_WORLD);
    } else {
      MPI_Recv(&number, 1, MPI_LONG_LONG, peer, thread, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      if (number != value(thread, i))
        atomicAdd(wrong, 1u);
    }
  }
}

/// The same messages, from one host thread to another; returns how many are wrong.
static unsigned host_messages(bool sends, int peer, int threads, int messages) {
  unsigned wrong = 0;
  for (int i = 0; i < messages; ++i)
    for (int thread = 0; thread < threads; ++thread) {
      long long number = sends ? value(thread, i) : -1;
      if (sends)
        MPI_Send(&number, 1, MPI_LONG_LONG, peer, thread, MPI_COMM_WORLD);
      else
        MPI_Recv(&number, 1, MPI_LONG_LONG, peer, thread, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      wrong += number != value(thread, i);
    }
  return wrong;
}

static void line(bench::Bench &bench, int blocks, int threads, int messages) {
  bool sends = bench.rank == 0;
  int peer = 1 - bench.rank, all = blocks * threads;
  messages = bench.options.integer("iterations", messages);
  bench::Array<unsigned> wrong(1, bench::Memory::pinned);
  bench::Sample kernels = bench.measure(1ll * messages * all, [&] {
    send_or_receive<<<blocks, threads>>>(sends, peer, messages, wrong.data());
    bench::synchronize();
  });
  bench::Sample hosts = bench.measure(
      1ll * messages * all, [&] { *wrong.data() += host_messages(sends, peer, all, messages); });
  bench.wrong("by thread", *wrong.data(), "messages");
  bench.row({all, kernels.into(1e3), hosts.into(1e3)});
}

void experiments::msgrate(bench::Bench &bench) {
  bench.table("8-byte messages a second between kernels, one sender a thread",
              {{"threads", "", Role::x},
               {"queue", "thousand/s", Role::ours},
               {"host MPI, one thread", "thousand/s", Role::limit}});
  bench::PreferredLowering preferred("queue");
  line(bench, 1, 1, 200);
  line(bench, 1, 32, 50);
  int threads = bench.threads();
  for (int blocks : {1, 4, 16})
    if (blocks <= bench.blocks())
      line(bench, blocks, threads, 10);
}
