// What it takes a kernel to ask the proxy, and nobody beyond it: the round trip by scope, beside
// that of a bare Attribute (mailbox.h); a bare Attribute by its size; and how many threads'
// questions are answered in a second. After paper 000, figure 8.
#include "mailbox.h"

using bench::Role;

// At each scope, a message from nobody to nobody: the proxy answers it without MPI.

static __global__ void ask_as_thread(int times) {
  if (threadIdx.x == 0 && blockIdx.x == 0)
    for (int i = 0; i < times; ++i)
      MPI_Sendrecv(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, 0, nullptr, 0, MPI_BYTE, MPI_PROC_NULL, 0,
                   MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static __global__ void ask_as_block(int times) {
  if (blockIdx.x == 0)
    for (int i = 0; i < times; ++i)
      MPI_Sendrecv(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, 0, nullptr, 0, MPI_BYTE, MPI_PROC_NULL, 0,
                   MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static __global__ void ask_as_grid(int times) {
  for (int i = 0; i < times; ++i)
    MPI_Sendrecv(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, 0, nullptr, 0, MPI_BYTE, MPI_PROC_NULL, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/// The size of a communicator that the GPU does not know: every thread asks the proxy for itself.
static __global__ void ask_size(MPI_Comm comm, int expected, int times, unsigned *wrong) {
  for (int i = 0; i < times; ++i) {
    int size = -1;
    MPI_Comm_size(comm, &size);
    if (size != expected)
      atomicAdd(wrong, 1u);
  }
}

namespace {

class Sizes {
public:
  explicit Sizes(bench::Bench &bench) : bench_(bench), wrong_(1, bench::Memory::pinned) {
    MPI_Comm_dup(MPI_COMM_WORLD, &comm_);
  }
  ~Sizes() { MPI_Comm_free(&comm_); }

  /// Microseconds of an answer where this many threads ask at once.
  bench::Sample measure(int blocks, int threads, int times) {
    bench::Sample sample = bench_.measure(1ll * times * blocks * threads, [&] {
      ask_size<<<blocks, threads>>>(comm_, bench_.ranks, times, wrong_.data());
      bench::synchronize();
    });
    if (*wrong_.data() != 0)
      bench_.wrong("MPI_Comm_size of a communicator");
    return sample;
  }

private:
  bench::Bench &bench_;
  bench::Array<unsigned> wrong_;
  MPI_Comm comm_;
};

void round_trips(bench::Bench &bench, Sizes &sizes, const char *note) {
  bench.table("A kernel asks the proxy by the queue: round trip",
              {{"scope", "", Role::x},
               {"blocks", "", Role::x},
               {"MPI_Sendrecv, nobody", "us", Role::ours},
               {"MPI_Comm_size", "us", Role::ours},
               {"bare 64-byte Attribute", "us", Role::limit}},
              note);
  int times = bench.options.integer("iterations", 200);
  bench::Cell limit = mailbox::round_trip(bench, 64);
  auto line = [&](const char *scope, int blocks, void (*kernel)(int), bench::Cell size) {
    bench::Sample sample = bench.measure(times, [&] {
      kernel<<<blocks, bench.threads()>>>(times);
      bench::synchronize();
    });
    bench.row({scope, blocks, sample, size, limit});
  };
  line("thread", 1, ask_as_thread, sizes.measure(1, 1, times));
  line("block", 1, ask_as_block, {});
  for (int blocks : {1, 16, 132})
    if (blocks <= bench.blocks())
      line("grid", blocks, ask_as_grid, {});
}

void limit_by_size(bench::Bench &bench, const char *note) {
  bench.table("A bare Attribute to the host and back",
              {{"size", "B", Role::x}, {"round trip", "us", Role::limit}}, note);
  for (int bytes = 4; bytes <= 1024; bytes *= 2)
    bench.row({bytes, mailbox::round_trip(bench, bytes)});
}

void rates(bench::Bench &bench, Sizes &sizes, const char *note) {
  bench.table("Questions answered by the queue's proxy in a second, all threads asking at once",
              {{"threads", "", Role::x},
               {"MPI_Comm_size", "M/s", Role::ours},
               {"bare Attributes, one warp", "M/s", Role::limit}},
              note);
  bench::Cell limit = mailbox::rate(bench);
  int threads = bench.threads();
  auto line = [&](int blocks, int threads, int times) {
    times = bench.options.integer("iterations", times);
    bench.row({blocks * threads, sizes.measure(blocks, threads, times).into(1), limit});
  };
  line(1, 32, 100);
  for (int blocks : {1, 16, 132})
    if (blocks <= bench.blocks())
      line(blocks, threads, blocks == 1 ? 20 : 2);
}

} // namespace

void experiments::attribute(bench::Bench &bench) {
#ifdef GMPI_DEVICE_CPU
  const char *note = "The bare Attribute needs a GPU.";
#else
  const char *note = "";
#endif
  bench::PreferredLowering preferred("queue");
  Sizes sizes(bench);
  round_trips(bench, sizes, note);
  limit_by_size(bench, note);
  rates(bench, sizes, note);
}
