// What a kernel launch costs: from the host back to back, from the host with waiting for each, and
// from a kernel (dynamic parallelism). After paper 000, table 2. The limit is a CUDA graph of as
// many, one behind the other: the host launches once, and what is left is the device's way from
// kernel to kernel.
//
// The last one exists where this file was compiled as relocatable device code (-rdc=true), unless
// GMPI_BENCH_NO_LAUNCHES_FROM_KERNELS is defined.
#include "bench.h"

using bench::Role;

#if defined(__CUDACC_RDC__) && !defined(GMPI_DEVICE_CPU) &&                                        \
    !defined(GMPI_BENCH_NO_LAUNCHES_FROM_KERNELS)
#define HAS_LAUNCHES_FROM_KERNELS
#endif

static __global__ void empty() {}

/// Microseconds of a launch; `wait` for each, or for all of them at the end.
static bench::Sample from_host(const bench::Bench &bench, int blocks, int launches, bool wait) {
  bench::Stream stream;
  return bench.measure(launches, [&] {
    for (int i = 0; i < launches; ++i) {
      empty<<<blocks, 32, 0, stream>>>();
      if (wait)
        stream.synchronize();
    }
    stream.synchronize();
  });
}

#ifdef HAS_LAUNCHES_FROM_KERNELS
/// One thread launches, one after the other.
static __global__ void parent(int blocks, int launches, unsigned *failed) {
  for (int i = 0; i < launches; ++i)
    empty<<<blocks, 32>>>();
  if (cudaGetLastError() != cudaSuccess)
    *failed = 1;
}

/// The parent's own launch is spread over all of its children: a two-hundredth of it each.
static bench::Cell from_kernel(bench::Bench &bench, int blocks, int launches) {
  bench::Array<unsigned> failed(1, bench::Memory::pinned);
  if (launches > 2048) // CUDA's own limit on those that have not begun
    CUDA_CHECK(cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount, launches));
  bench::Sample sample = bench.measure(launches, [&] {
    parent<<<1, 1>>>(blocks, launches, failed.data());
    bench::synchronize();
  });
  if (*failed.data() != 0)
    bench.wrong("a kernel could not launch all of its kernels; fewer --iterations?");
  return sample;
}
#else
static bench::Cell from_kernel(bench::Bench &, int, int) { return {}; }
#endif

#ifdef GMPI_DEVICE_CPU
static bench::Cell in_a_graph(bench::Bench &, int, int) { return {}; }
#else
/// The graph's own launch is spread over all of its kernels.
static bench::Cell in_a_graph(bench::Bench &bench, int blocks, int launches) {
  bench::Stream stream;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  for (int i = 0; i < launches; ++i)
    empty<<<blocks, 32, 0, stream>>>();
  CUDA_CHECK(cudaStreamEndCapture(stream, &graph));
  CUDA_CHECK(cudaGraphInstantiateWithFlags(&executable, graph, 0));
  bench::Sample sample = bench.measure(launches, [&] {
    CUDA_CHECK(cudaGraphLaunch(executable, stream));
    stream.synchronize();
  });
  CUDA_CHECK(cudaGraphExecDestroy(executable));
  CUDA_CHECK(cudaGraphDestroy(graph));
  return sample;
}
#endif

void experiments::launch(bench::Bench &bench) {
#ifdef HAS_LAUNCHES_FROM_KERNELS
  const char *from = "From a kernel: one thread launches, its children run in order.";
#else
  const char *from = "From a kernel: this program was built without.";
#endif
#ifdef GMPI_DEVICE_CPU
  const char *graphs = "The cpu device has no graphs.";
#else
  const char *graphs =
      "Limit: from kernel to kernel on the device, all of them in a graph that is launched once.";
#endif
  bench.table("Launching an empty kernel",
              {{"blocks", "", Role::x},
               {"back to back", "us", Role::ours},
               {"launch + synchronise", "us", Role::ours},
               {"from a kernel", "us", Role::ours},
               {"in a graph", "us", Role::limit}},
              bench::note({from, graphs}));
  for (int blocks : {1, 16, 132}) {
    int launches = bench.options.integer("iterations", 200);
    bench.row({blocks, from_host(bench, blocks, launches, false),
               from_host(bench, blocks, launches, true), from_kernel(bench, blocks, launches),
               in_a_graph(bench, blocks, launches)});
  }
}
