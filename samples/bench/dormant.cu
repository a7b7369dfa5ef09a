// What a kernel pays for an MPI call that it has and does not make: sweeps of two stencils, with an
// MPI_Sendrecv behind each under a condition that never holds, beside the same sweeps in a kernel
// without MPI. The call takes registers, so fewer blocks find room; what it takes of a kernel
// beyond that is seen where the kernel without MPI has as few.
#include "bench.h"
#include "stencils.h"

#include <algorithm>
#include <cmath>

using bench::Role;

/// Of rows, with the neighbours.
struct Trade {
  bool made; ///< never; but that is known to nobody before the launch
  void *out, *in;
  int bytes, above, below;
};

/// Returns the sum of the squares of what this thread has changed.
template <class Stencil> __device__ static typename Stencil::Value sweep(Stencil s) {
  typename Stencil::Value sum = 0;
  for (int row = blockIdx.x; row < s.rows(); row += gridDim.x)
    for (int x = threadIdx.x; x < s.n; x += blockDim.x) {
      int i = s.row(row) + x;
      typename Stencil::Value relaxed = s.relaxed(i), change = relaxed - s.from[i];
      s.to[i] = relaxed;
      sum += change * change;
    }
  return sum;
}

/// Every sweep of a launch is the same one, so none has to wait for that before it.
template <class Stencil>
static __global__ void without_mpi(Stencil s, Trade, int sweeps, typename Stencil::Value *sums) {
  typename Stencil::Value sum = 0;
  for (int i = 0; i < sweeps; ++i)
    sum += sweep(s);
  sums[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

template <class Stencil>
static __global__ void with_mpi(Stencil s, Trade trade, int sweeps, typename Stencil::Value *sums) {
  typename Stencil::Value sum = 0;
  for (int i = 0; i < sweeps; ++i) {
    sum += sweep(s);
    if (trade.made)
      MPI_Sendrecv(trade.out, trade.bytes, MPI_BYTE, trade.above, 0, trade.in, trade.bytes,
                   MPI_BYTE, trade.below, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  sums[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

namespace {

template <class Stencil> using Kernel = void (*)(Stencil, Trade, int, typename Stencil::Value *);

/// A stencil's cells on the device, and on the host what one sweep makes of them.
template <class Stencil> class Field {
public:
  using Value = typename Stencil::Value;

  explicit Field(int n) : stencil{nullptr, nullptr, n}, cells_(Stencil::arrays * stencil.cells()) {
    std::vector<Value> given(Stencil::arrays * stencil.cells());
    for (std::size_t i = 0; i < given.size(); ++i)
      given[i] = stencil.given(i);
    bench::write(cells_.data(), given);
    Stencil host = {given.data(), nullptr, n};
    each_point([&](int i) {
      expected_.push_back(host.relaxed(i));
      double change = expected_.back() - given[i];
      expected_sum_ += change * change;
    });
    stencil.from = cells_.data();
    stencil.to = cells_.data() + stencil.cells();
  }

  Stencil stencil; ///< the device's

  /// Has the points hold no numbers.
  void clear() const {
    CUDA_CHECK(cudaMemset(stencil.to, 0xff, stencil.cells() * sizeof(Value)));
    CUDA_CHECK(cudaDeviceSynchronize());
  }

  /// Points that are not what a sweep makes of them.
  std::size_t wrong_points() const {
    std::vector<Value> found = bench::read(stencil.to, stencil.cells());
    std::size_t wrong = 0, number = 0;
    each_point([&](int i) { wrong += !is_near(found[i], expected_[number++], 1e-5); });
    return wrong;
  }

  /// Whether the squares of the changes add up to this.
  bool is_sum(double found) const { return is_near(found, expected_sum_, 1e-3); }

private:
  /// Compilers multiply and add in one step where they like. False for what is no number.
  static bool is_near(double found, double expected, double error) {
    return std::fabs(found - expected) <= error * (1 + std::fabs(expected));
  }

  template <class Use> void each_point(Use use) const {
    for (int row = 0; row < stencil.rows(); ++row)
      for (int x = 0; x < stencil.n; ++x)
        use(stencil.row(row) + x);
  }

  bench::Array<Value> cells_;
  std::vector<Value> expected_; ///< by point
  double expected_sum_ = 0;
};

/// Microseconds of a sweep.
template <class Stencil>
bench::Sample measure(bench::Bench &bench, Field<Stencil> &field, Kernel<Stencil> kernel,
                      int blocks, const char *lowering) {
  bench::PreferredLowering preferred(lowering);
  int threads = bench.threads(), sweeps = bench.options.integer("iterations", 20);
  bench::Array<typename Stencil::Value> sums(std::size_t(blocks) * threads);
  field.clear();
  const Stencil &s = field.stencil;
  int bytes = int(sizeof(typename Stencil::Value)) * s.n;
  Trade trade = {false, s.to + s.row(0), s.to + s.row(s.rows()), bytes, 0, 0};
  bench::Sample sample = bench.measure(sweeps, [&] {
    kernel<<<blocks, threads>>>(s, trade, sweeps, sums.data());
    bench::synchronize();
  });
  double sum = 0;
  for (double of_thread : bench::read(sums.data(), std::size_t(blocks) * threads))
    sum += of_thread / sweeps;
  std::size_t wrong = field.wrong_points();
  if (wrong != 0 || !field.is_sum(sum))
    bench.wrong(std::string(*lowering ? lowering : "without MPI") + ": " + std::to_string(wrong) +
                " points, or the sum of their changes");
  return sample;
}

bench::Cell registers(const void *kernel) {
#ifdef GMPI_DEVICE_CPU
  (void)kernel;
  return {};
#else
  cudaFuncAttributes attributes;
  CUDA_CHECK(cudaFuncGetAttributes(&attributes, kernel));
  return attributes.numRegs;
#endif
}

/// A split kernel's first segment: all that runs of it where no call is made. CUDA's functions tell
/// of queue's kernel; once translated, this file sees the runtime's own registry.
const void *first_segment([[maybe_unused]] const void *kernel) {
#ifdef GMPI_HOST_DEVICE
  if (const auto *entry = gmpi::launch::find_kernel(kernel))
    if (entry->has_split())
      return entry->split.segments.front();
#endif
  return nullptr;
}

/// How many of its blocks the device holds at once; of queue's kernel, too.
template <class Stencil> int resident_blocks(const bench::Bench &bench, Kernel<Stencil> kernel) {
  int device, multiprocessors, blocks;
  CUDA_CHECK(cudaGetDevice(&device));
  CUDA_CHECK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
  CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, bench.threads(), 0));
  return bench.options.integer("blocks", multiprocessors * std::max(1, blocks));
}

/// A row of a stencil's table.
template <class Stencil> void line(bench::Bench &bench, int n) {
  Field<Stencil> field(n);
  int all = resident_blocks(bench, without_mpi<Stencil>);
  int few = resident_blocks(bench, with_mpi<Stencil>);
  bench::Sample without = measure(bench, field, without_mpi<Stencil>, all, "");
  bench::Sample as_few = measure(bench, field, without_mpi<Stencil>, few, "");
  bench::Sample queue = measure(bench, field, with_mpi<Stencil>, few, "queue");
  bench::Sample split = measure(bench, field, with_mpi<Stencil>, all, "split");
  bench.row({n, without, as_few, queue, split, queue.median / without.median,
             queue.median / as_few.median, split.median / without.median});
}

template <class Stencil> void table(bench::Bench &bench, std::vector<int> sizes) {
  int sweeps = bench.options.integer("iterations", 20);
  bench.table(std::string(Stencil::name) + ": a sweep, " + std::to_string(sweeps) + " in a launch",
              {{"points a side", "", Role::x},
               {"without MPI", "us", Role::limit},
               {"the same, queue's grid", "us", Role::limit},
               {"queue", "us", Role::ours},
               {"split", "us", Role::ours},
               {"queue / without", "", Role::info},
               {"queue / queue's grid", "", Role::info},
               {"split / without", "", Role::info}});
  if (int size = bench.options.integer("size", 0))
    sizes = {size};
  for (int n : sizes)
    line<Stencil>(bench, n);
}

template <class Stencil> void resources(bench::Bench &bench, const char *name) {
  auto *alone = reinterpret_cast<const void *>(without_mpi<Stencil>);
  auto *queue = reinterpret_cast<const void *>(with_mpi<Stencil>);
  const void *split = first_segment(queue);
  bench.row({name, registers(alone), registers(queue), split ? registers(split) : bench::Cell(),
             resident_blocks(bench, without_mpi<Stencil>),
             resident_blocks(bench, with_mpi<Stencil>)});
}

} // namespace

void experiments::dormant(bench::Bench &bench) {
#ifdef GMPI_DEVICE_CPU
  std::vector<int> sides = {64}, edges = {16};
#else
  std::vector<int> sides = {2048, 8192}, edges = {256};
#endif
  table<Square>(bench, sides);
  table<Cube>(bench, edges);
  bench.table("Registers of a thread, and blocks of " + std::to_string(bench.threads()) +
                  " threads that are launched (split: as without MPI)",
              {{"stencil", "", Role::x},
               {"registers: without MPI", "", Role::info},
               {"queue", "", Role::info},
               {"split, first segment", "", Role::info},
               {"blocks: without MPI", "", Role::info},
               {"queue", "", Role::info}});
  resources<Square>(bench, "Laplace");
  resources<Cube>(bench, "Himeno");
}
