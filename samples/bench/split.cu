// What it costs to suspend a split kernel at an MPI call, by the bytes that live across it in each
// thread: beside the same call under `queue`, made by the host, and one launch and synchronisation,
// the least that a segment costs.
#include "bench.h"

using bench::Role;

/// Every value changes with every call, so all of them live across it, and a sum shows what was
/// lost.
template <int Values> static __global__ void live_across(double *sums, int calls) {
  int thread = blockIdx.x * blockDim.x + threadIdx.x;
  double live[Values];
#pragma unroll
  for (int k = 0; k < Values; ++k)
    live[k] = thread + k;
  for (int call = 0; call < calls; ++call) {
    MPI_Barrier(MPI_COMM_WORLD);
#pragma unroll
    for (int k = 0; k < Values; ++k)
      live[k] += k + 1;
  }
  double sum = 0;
#pragma unroll
  for (int k = 0; k < Values; ++k)
    sum += live[k];
  sums[thread] = sum;
}

namespace {

struct Variant {
  int values;
  void (*kernel)(double *, int);
};

const Variant variants[] = {
    {1, live_across<1>}, {4, live_across<4>}, {16, live_across<16>}, {64, live_across<64>}};

void check(bench::Bench &bench, const double *sums, int threads, int values, int calls,
           const char *lowering) {
  std::vector<double> host = bench::read(sums, threads);
  double numbers = values * (values - 1) / 2.0;
  int wrong = 0;
  for (int thread = 0; thread < threads; ++thread)
    wrong += host[thread] != double(values) * thread + numbers + calls * (numbers + values);
  bench.wrong(lowering, wrong, "threads' values");
}

/// Microseconds of a call.
bench::Sample measure(bench::Bench &bench, const Variant &variant, const char *lowering) {
  int blocks = bench.blocks(), threads = bench.threads();
  int calls = bench.options.integer("iterations", 100);
  bench::Array<double> sums(std::size_t(blocks) * threads);
  bench::PreferredLowering preferred(lowering);
  bench::Sample sample = bench.measure(calls, [&] {
    variant.kernel<<<blocks, threads>>>(sums.data(), calls);
    bench::synchronize();
  });
  check(bench, sums.data(), blocks * threads, variant.values, calls, lowering);
  return sample;
}

} // namespace

void experiments::split(bench::Bench &bench) {
  bench.table("An MPI_Barrier in a kernel, by what lives across it",
              {{"live a thread", "B", Role::x},
               {"split", "us", Role::ours},
               {"queue", "us", Role::ours},
               {"launch + synchronise", "us", Role::limit},
               {"host MPI", "us", Role::limit}});
  int calls = bench.options.integer("iterations", 100);
  bench::Sample launch = bench::launch_and_synchronise(bench);
  bench::Sample host = bench.measure(calls, [&] {
    for (int call = 0; call < calls; ++call)
      MPI_Barrier(MPI_COMM_WORLD);
  });
  for (const Variant &variant : variants)
    bench.row({8 * variant.values, measure(bench, variant, "split"),
               measure(bench, variant, "queue"), launch, host});
}
