// How much of the time of an MPI_Isend and MPI_Irecv is hidden by computation of the same kernel:
// communication alone, computation alone, and both at once, by size of the message; beside a kernel
// that computes while the host exchanges.
#include "bench.h"
#include "device_clock.h"

#include <algorithm>

using bench::Role;

struct Exchange {
  unsigned char *out, *in;
  int bytes, peer;
  MPI_Comm comm; ///< of the kernel's messages
  bool communicates;
  double compute; ///< microseconds
  int rounds;
};

static __global__ void exchange_and_compute(Exchange e) {
  for (int i = 0; i < e.rounds; ++i) {
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    if (e.communicates) {
      MPI_Irecv(e.in, e.bytes, MPI_BYTE, e.peer, 0, e.comm, &requests[0]);
      MPI_Isend(e.out, e.bytes, MPI_BYTE, e.peer, 0, e.comm, &requests[1]);
    }
    bench::compute(e.compute);
    if (e.communicates)
      MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  }
}

static __global__ void only_compute(double microseconds) { bench::compute(microseconds); }

namespace {

/// The host's exchange while a kernel computes; the kernel is launched first.
void host_exchange(const Exchange &e, const bench::Stream &stream) {
  for (int i = 0; i < e.rounds; ++i) {
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    if (e.compute > 0)
      only_compute<<<1, 32, 0, stream>>>(e.compute);
    if (e.communicates) {
      MPI_Irecv(e.in, e.bytes, MPI_BYTE, e.peer, 0, MPI_COMM_WORLD, &requests[0]);
      MPI_Isend(e.out, e.bytes, MPI_BYTE, e.peer, 0, MPI_COMM_WORLD, &requests[1]);
      MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    stream.synchronize();
  }
}

struct Times {
  bench::Sample communication, computation, both;

  /// What both together take at least: the longer one of the medians.
  double least() const { return std::max(communication.median, computation.median); }

  /// Percent of the shorter one; of the medians. Its spread is that of both together.
  bench::Sample hidden() const {
    double apart = communication.median + computation.median;
    double shorter = std::min(communication.median, computation.median);
    auto share = [&](double together) { return 100 * (apart - together) / shorter; };
    return {share(both.median), share(both.p90), share(both.p10)};
  }
};

/// Communication alone tells how long to compute, unless --compute does.
template <class Run> Times measure(bench::Bench &bench, Exchange e, const char *what, Run run) {
  bench::fill(e.out, e.bytes, bench.rank);
  CUDA_CHECK(cudaMemset(e.in, 0, e.bytes));
  CUDA_CHECK(cudaDeviceSynchronize());
  auto timed = [&](bool communicates, double compute) {
    e.communicates = communicates;
    e.compute = compute;
    return bench.measure(e.rounds, [&] { run(e); });
  };
  Times times;
  times.communication = timed(true, 0);
  double compute = bench.options.number("compute", times.communication.median);
  times.computation = timed(false, compute);
  times.both = timed(true, compute);
  bench.wrong(what, bench::wrong_bytes(e.in, e.bytes, e.peer), "bytes");
  return times;
}

/// `what`: the lowering, or the peer transport.
void table(bench::Bench &bench, const char *what, const char *lowering, const Exchange &most,
           const std::vector<std::size_t> &sizes, const Exchange &hosts) {
  int blocks = bench.blocks(), threads = bench.threads();
  bench::Stream stream;
  bench.table(
      std::string("MPI_Isend and MPI_Irecv beside computation, ") + what + ", grid of " +
          std::to_string(blocks) + " blocks",
      {{"size", "B", Role::x},
       {"communication", "us", Role::info},
       {"computation", "us", Role::info},
       {"both", "us", Role::info},
       {"longer one of the two", "us", Role::info},
       {"hidden", "%", Role::ours},
       {"all hidden", "%", Role::limit},
       {"host MPI: both", "us", Role::info},
       {"host MPI: hidden", "%", Role::peer}},
      "Hidden: of the medians' shorter one, with the spread of both; all is hidden where both "
      "take as long as the longer one. The host's messages are its own memory's.");
  bench::PreferredLowering preferred(lowering);
  for (std::size_t bytes : sizes) {
    Exchange e = most, host = hosts;
    e.bytes = host.bytes = static_cast<int>(bytes);
    e.rounds = host.rounds = bench.iterations(bytes, 50);
    Times kernel = measure(bench, e, what, [&](const Exchange &e) {
      exchange_and_compute<<<blocks, threads>>>(e);
      bench::synchronize();
    });
    Times by_host =
        measure(bench, host, "host MPI", [&](const Exchange &e) { host_exchange(e, stream); });
    bench.row({bytes, kernel.communication, kernel.computation, kernel.both, kernel.least(),
               kernel.hidden(), 100, by_host.both, by_host.hidden()});
  }
}

} // namespace

void experiments::overlap(bench::Bench &bench) {
  std::vector<std::size_t> sizes = bench.sizes(1024, 16 << 20);
  std::size_t room = sizes.back();
  bench::Array<unsigned char> out(room), in(room);
  bench::Array<unsigned char> host_out(room, bench::Memory::pinned);
  bench::Array<unsigned char> host_in(room, bench::Memory::pinned);
  Exchange e = {out.data(), in.data(), 0, 1 - bench.rank, MPI_COMM_WORLD, true, 0, 0};
  Exchange hosts = {host_out.data(), host_in.data(), 0, 1 - bench.rank, MPI_COMM_WORLD, true, 0, 0};
  for (const char *lowering : {"queue", "split"})
    table(bench, lowering, lowering, e, sizes, hosts);
  bench::KernelsComm kernels;
  e.comm = kernels.get();
  if (kernels.available())
    table(bench, "peer", "queue", e, sizes, hosts);
}
