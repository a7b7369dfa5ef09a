// Barrier, Bcast, Allreduce and what Alltoall does, by size, made by a whole grid: with each
// lowering and transport, beside what one does without MPI in kernels, NCCL, and the hosts' own
// calls.
#include "bare_link.h"
#include "bench.h"
#include "with_nccl.h"

#include <algorithm>

using bench::Role;

/// `calls` times the same collective of `count` doubles. MPI_Bcast's are `to`, from rank 0;
/// MPI_Alltoall has as many for each rank.
struct Call {
  double *from, *to;
  int count, calls;
  int rank, ranks;
  MPI_Comm comm; ///< of the kernels' calls
};

static __global__ void barriers(Call c) {
  for (int i = 0; i < c.calls; ++i)
    MPI_Barrier(c.comm);
}

static __global__ void broadcasts(Call c) {
  for (int i = 0; i < c.calls; ++i)
    MPI_Bcast(c.to, c.count, MPI_DOUBLE, 0, c.comm);
}

static __global__ void reductions(Call c) {
  for (int i = 0; i < c.calls; ++i)
    MPI_Allreduce(c.from, c.to, c.count, MPI_DOUBLE, MPI_SUM, c.comm);
}

/// The same of one that each thread has, as a residual, or the length of a step.
static __global__ void variables(Call c) {
  const double own = c.rank + 1; // as given() has it
  double sum = 0;
  for (int i = 0; i < c.calls; ++i)
    MPI_Allreduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, c.comm);
  if (blockIdx.x == 0 && threadIdx.x == 0)
    *c.to = sum;
}

constexpr int most_at_once = 31; ///< ranks that one trades with

/// What a rank keeps: several elements of each thread are under way at a time. (Written out: of a
/// loop that is unrolled nvcc loads one after the other, and 16 MiB took 50 us.)
__device__ static void copy(double *to, const double *from, int count) {
  constexpr int at_once = 8;
  const int threads = gridDim.x * blockDim.x;
  int k = blockIdx.x * blockDim.x + threadIdx.x;
  for (; k + (at_once - 1) * threads < count; k += at_once * threads) {
    double values[at_once];
#pragma unroll
    for (int i = 0; i < at_once; ++i)
      values[i] = from[k + i * threads];
#pragma unroll
    for (int i = 0; i < at_once; ++i)
      to[k + i * threads] = values[i];
  }
  for (; k < count; k += threads)
    to[k] = from[k];
}

/// Kernels have no MPI_Alltoall: each rank trades with the other, or with all others at once.
static __global__ void exchanges(Call c) {
  MPI_Request requests[2 * most_at_once];
  std::size_t own = std::size_t(c.rank) * c.count;
  for (int i = 0; i < c.calls; ++i) {
    copy(c.to + own, c.from + own, c.count);
    if (c.ranks == 2 || c.ranks > most_at_once + 1) {
      for (int step = 1; step < c.ranks; ++step) {
        int to = (c.rank + step) % c.ranks, from = (c.rank + c.ranks - step) % c.ranks;
        MPI_Sendrecv(c.from + std::size_t(to) * c.count, c.count, MPI_DOUBLE, to, 0,
                     c.to + std::size_t(from) * c.count, c.count, MPI_DOUBLE, from, 0, c.comm,
                     MPI_STATUS_IGNORE);
      }
    } else {
      int others = c.ranks - 1;
      for (int k = 0; k < others; ++k) {
        int from = (c.rank + c.ranks - 1 - k) % c.ranks;
        MPI_Irecv(c.to + std::size_t(from) * c.count, c.count, MPI_DOUBLE, from, 0, c.comm,
                  &requests[k]);
      }
      for (int k = 0; k < others; ++k) {
        int to = (c.rank + 1 + k) % c.ranks;
        MPI_Isend(c.from + std::size_t(to) * c.count, c.count, MPI_DOUBLE, to, 0, c.comm,
                  &requests[others + k]);
      }
      MPI_Waitall(2 * others, requests, MPI_STATUSES_IGNORE);
    }
  }
}

static __global__ void nothing(Call) {}

namespace {

enum class Data { none, broadcast, reduced, variable, exchanged };

struct Collective {
  const char *name;
  Data data;
  void (*kernel)(Call);
  void (*host)(const Call &);               ///< once
  void (*nccl)(const Call &, cudaStream_t); ///< once; null where NCCL has no such
  const char *note;
};

void reduce(const Call &c) {
  MPI_Allreduce(c.from, c.to, c.count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}
void reduce_by_nccl(const Call &c, cudaStream_t stream) {
  nccl::all_reduce(c.from, c.to, c.count, stream);
}

const Collective collectives[] = {
    {"Barrier", Data::none, barriers, [](const Call &) { MPI_Barrier(MPI_COMM_WORLD); }, nullptr,
     ""},
    {"Bcast", Data::broadcast, broadcasts,
     [](const Call &c) { MPI_Bcast(c.to, c.count, MPI_DOUBLE, 0, MPI_COMM_WORLD); },
     [](const Call &c, cudaStream_t stream) {
       nccl::broadcast(c.to, c.count * sizeof(double), 0, stream);
     },
     ""},
    {"Allreduce", Data::reduced, reductions, reduce, reduce_by_nccl, ""},
    {"Allreduce of a variable", Data::variable, variables, reduce, reduce_by_nccl,
     "Each thread has the variable; what stands beside the kernels' takes a buffer."},
    {"Alltoall", Data::exchanged, exchanges,
     [](const Call &c) {
       MPI_Alltoall(c.from, c.count, MPI_DOUBLE, c.to, c.count, MPI_DOUBLE, MPI_COMM_WORLD);
     },
     [](const Call &c, cudaStream_t stream) {
       nccl::all_to_all(c.from, c.to, c.count, c.ranks, stream);
     },
     "Size: for each rank. Kernels trade with another rank by MPI_Sendrecv, with more of them by "
     "MPI_Irecv, MPI_Isend and MPI_Waitall."}};

/// Whether bare packets from each rank to each are its limit.
bool has_bare(const Collective &collective) {
  return collective.data != Data::broadcast && collective.data != Data::exchanged;
}

/// Elements on a rank, before or after.
std::size_t elements(const Collective &collective, const Call &c) {
  return std::size_t(c.count) * (collective.data == Data::exchanged ? c.ranks : 1);
}

/// What rank's element i is before the call.
double given(int rank, std::size_t i) { return rank + 1 + double(i % 7); }

/// What element i is behind it.
double expected(const Collective &collective, const Call &c, std::size_t i) {
  if (collective.data == Data::broadcast)
    return given(0, i);
  if (collective.data == Data::exchanged)
    return given(int(i / c.count), std::size_t(c.rank) * c.count + i % c.count);
  return c.ranks * (c.ranks - 1) / 2.0 + c.ranks * given(0, i);
}

/// Fresh data: what came of the variant before is not taken for this one's.
void prepare(const Collective &collective, const Call &c) {
  std::vector<double> from(elements(collective, c)), to(from.size(), -1);
  for (std::size_t i = 0; i < from.size(); ++i)
    from[i] = given(c.rank, i);
  if (collective.data == Data::broadcast && c.rank == 0)
    to = from;
  bench::write(c.from, from);
  bench::write(c.to, to);
}

void check(bench::Bench &bench, const Collective &collective, const Call &c, const char *variant) {
  std::vector<double> to = bench::read(c.to, elements(collective, c));
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < to.size(); ++i)
    wrong += to[i] != expected(collective, c, i);
  if (collective.data != Data::none)
    bench.wrong(std::string(variant) + ", " + collective.name, wrong, "elements");
}

/// Microseconds of a call.
template <class Run>
bench::Sample measure(bench::Bench &bench, const Collective &collective, const Call &c,
                      const char *variant, Run run) {
  prepare(collective, c);
  bench::Sample sample = bench.measure(c.calls, run);
  check(bench, collective, c, variant);
  return sample;
}

struct Setting {
  int blocks, threads;
  bench::Stream stream;
};

/// Kernel, copy to the host, MPI, copy to the device.
void classic(const Collective &collective, const Call &device, const Call &host,
             const Setting &with) {
  std::size_t bytes =
      collective.data == Data::none ? 0 : elements(collective, device) * sizeof(double);
  bool in_place = collective.data == Data::broadcast;
  for (int i = 0; i < device.calls; ++i) {
    nothing<<<with.blocks, with.threads, 0, with.stream>>>(device);
    if (bytes != 0)
      CUDA_CHECK(cudaMemcpyAsync(in_place ? host.to : host.from, in_place ? device.to : device.from,
                                 bytes, cudaMemcpyDeviceToHost, with.stream));
    with.stream.synchronize();
    collective.host(host);
    if (bytes != 0)
      CUDA_CHECK(cudaMemcpyAsync(device.to, host.to, bytes, cudaMemcpyHostToDevice, with.stream));
  }
  with.stream.synchronize();
}

/// One size: a row of the table.
void line(bench::Bench &bench, const Collective &collective, const Call &device, const Call &host,
          const Setting &with, const bench::KernelsComm &kernels, bare::Link &link) {
  auto kernel = [&](const char *lowering, const char *name, const Call &device) {
    bench::PreferredLowering preferred(lowering);
    return measure(bench, collective, device, name, [&] {
      collective.kernel<<<with.blocks, with.threads>>>(device);
      bench::synchronize();
    });
  };
  bench::Cell queue = kernel("queue", "queue", device), split = kernel("split", "split", device);
  bench::Cell peer, nccl;
  if (kernels.available()) {
    Call among = device;
    among.calls = bench.iterations_between_kernels(device.count * sizeof(double));
    among.comm = kernels.get();
    peer = kernel("queue", "peer", among);
  }
  bench::Cell by_hand = measure(bench, collective, device, "classic",
                                [&] { classic(collective, device, host, with); });
  if (collective.nccl != nullptr && nccl::available())
    nccl = measure(bench, collective, device, "NCCL", [&] {
      for (int i = 0; i < device.calls; ++i)
        collective.nccl(device, with.stream);
      with.stream.synchronize();
    });
  bench::Cell hosts = measure(bench, collective, host, "host MPI", [&] {
    for (int i = 0; i < host.calls; ++i)
      collective.host(host);
  });
  int bytes = collective.data == Data::none ? 0 : int(device.count * sizeof(double));
  bench::Cell bare;
  if (has_bare(collective))
    bare = link.all_reduce(bench, std::max(bytes, 8));
  bench.row({bytes, queue, split, peer, by_hand, nccl, hosts, bare});
}

} // namespace

void experiments::collectives(bench::Bench &bench) {
  Setting with = {bench.blocks(), bench.threads(), {}};
  bench::KernelsComm kernels;
  bare::Link link(bench);
  std::vector<std::size_t> sizes = bench.sizes(8, 16 << 20);
  std::size_t room = (sizes.back() / sizeof(double) + 1) * bench.ranks;
  bench::Array<double> from(room), to(room);
  bench::Array<double> host_from(room, bench::Memory::pinned), host_to(room, bench::Memory::pinned);
  for (const Collective &collective : ::collectives) {
    bench.table(std::string("MPI_") + collective.name + ", " + std::to_string(bench.ranks) +
                    " ranks, grid of " + std::to_string(with.blocks) + " blocks",
                {{"size", "B", Role::x},
                 {"queue", "us", Role::ours},
                 {"split", "us", Role::ours},
                 {"peer", "us", Role::ours},
                 {"classic", "us", Role::peer},
                 {"NCCL", "us", Role::peer},
                 {"host MPI", "us", Role::limit},
                 {"bare packets", "us", Role::limit}},
                bench::note({collective.note, kernels.why_not(), nccl::why_not(),
                             has_bare(collective) ? link.why_not() : ""}));
    for (std::size_t bytes : collective.data == Data::none       ? std::vector<std::size_t>{0}
                             : collective.data == Data::variable ? std::vector{sizeof(double)}
                                                                 : sizes) {
      int count = int(bytes / sizeof(double)), calls = bench.iterations(bytes, 100);
      Call device = {from.data(), to.data(), count, calls, bench.rank, bench.ranks, MPI_COMM_WORLD};
      Call host = device;
      host.from = host_from.data(), host.to = host_to.data();
      line(bench, collective, device, host, with, kernels, link);
    }
  }
}
