// Each packet of sixteen bytes carries eight of data and, twice, its lap: whoever sees both laps
// has the data, so nothing else tells of it, and no fence is needed. A lap's packets take the place
// of those two laps before, which the receiver has read then: it has sent its own of the lap
// between.
#include "bare_link.h"

#ifdef GMPI_DEVICE_CPU

bare::Link::Link(const bench::Bench &bench, std::size_t)
    : why_not_("Bare stores: not on the cpu device."), rank_(bench.rank), ranks_(bench.ranks) {}
bare::Link::~Link() {}
bench::Cell bare::Link::one_way(bench::Bench &, std::size_t, double) { return {}; }
bench::Cell bare::Link::stores(bench::Bench &, std::size_t) { return {}; }
bench::Cell bare::Link::all_reduce(bench::Bench &, std::size_t) { return {}; }

#else
#include "device_clock.h"
#include "sixteen.h"

#include <algorithm>

namespace {

constexpr std::size_t most_bytes = 65536;
constexpr int most_packets = most_bytes / 8, most_ranks = 8;
/// A rank's memory begins with what the others send it: of two laps, by rank.
constexpr std::size_t packets_bytes = std::size_t(2) * most_ranks * most_packets * sizeof(uint4);

/// Where a lap's packets from `rank` lie in a rank's memory.
__device__ uint4 *place(unsigned char *memory, int rank, unsigned lap) {
  return reinterpret_cast<uint4 *>(memory) + (lap % 2 * most_ranks + rank) * most_packets;
}

__device__ bool is_there(uint4 packet, unsigned lap) { return packet.y == lap && packet.w == lap; }

/// Looks until the packet is there; false after some ten seconds. (By count: all that such a loop
/// does takes as long as what it waits for.)
__device__ bool await(const uint4 *from, unsigned lap, uint4 &packet) {
  constexpr unsigned patience = 1u << 26;
  unsigned looks = 0;
  do
    packet = bench::load(from);
  while (!is_there(packet, lap) && ++looks != patience);
  return is_there(packet, lap);
}

struct Bounce {
  unsigned char *mine, *theirs; ///< memory
  uint2 *data;                  ///< each hop adds one to all of its words
  int rank, packets, rounds;
  unsigned lap; ///< the first hop's
  double compute;
  unsigned *gave_up;
};

/// A thread's packets of the data are every so many-th.
constexpr int most_threads = 1024;

__device__ void send(const Bounce &b, unsigned lap) {
  uint4 *const to = place(b.theirs, b.rank, lap);
  for (int p = threadIdx.x; p < b.packets; p += blockDim.x) {
    const uint2 value = b.data[p];
    bench::store(to + p, {value.x + 1, lap, value.y + 1, lap});
  }
}

__device__ bool receive(const Bounce &b, unsigned lap) {
  const uint4 *const from = place(b.mine, 1 - b.rank, lap);
  for (int p = threadIdx.x; p < b.packets; p += blockDim.x) {
    uint4 packet;
    if (!await(from + p, lap, packet))
      return false;
    b.data[p] = {packet.x, packet.z};
  }
  return true;
}

/// One block: rank 0 sends first. `computes`: before each message that it sends. A thread that has
/// waited in vain leaves; the others do, too, or find what they wait for.
template <bool computes> __global__ void __launch_bounds__(most_threads) bounce(Bounce b) {
  const unsigned end = b.lap + 2 * b.rounds;
  for (unsigned lap = b.lap; lap != end; lap += 2)
    for (int half = 0; half < 2; ++half) {
      if (half == b.rank) {
        if constexpr (computes)
          bench::compute(b.compute);
        send(b, lap + half);
        continue;
      }
      if (!receive(b, lap + half)) {
        *b.gave_up = 1;
        return;
      }
      __syncthreads();
    }
}

__global__ void store_all(uint4 *to, const uint4 *from, std::size_t vectors, int times) {
  constexpr int at_once = 4;
  const std::size_t step = std::size_t(gridDim.x) * blockDim.x;
  for (int t = 0; t < times; ++t)
    for (std::size_t k = blockIdx.x * blockDim.x + threadIdx.x; k < vectors; k += at_once * step) {
      uint4 values[at_once];
#pragma unroll
      for (int i = 0; i < at_once; ++i)
        if (k + i * step < vectors)
          values[i] = from[k + i * step];
#pragma unroll
      for (int i = 0; i < at_once; ++i)
        if (k + i * step < vectors)
          bench::store(to + k + i * step, values[i]);
    }
}

struct Sum {
  unsigned char *mine, *theirs[most_ranks - 1]; ///< memory
  int others[most_ranks - 1];                   ///< whose that is
  const double *from;
  double *to;
  int rank, packets, calls;
  unsigned lap; ///< the first call's
  unsigned *gave_up;
};

/// Each thread sends its packet to all of the others, then looks for theirs.
template <int ranks> __global__ void sum(Sum s) {
  const int p = blockIdx.x * blockDim.x + threadIdx.x;
  if (p >= s.packets)
    return;
  const unsigned end = s.lap + s.calls;
  for (unsigned lap = s.lap; lap != end; ++lap) {
    double all = s.from[p];
    const unsigned low = __double2loint(all), high = __double2hiint(all);
#pragma unroll
    for (int i = 0; i < ranks - 1; ++i)
      bench::store(place(s.theirs[i], s.rank, lap) + p, {low, lap, high, lap});
    uint4 packets[ranks - 1];
#pragma unroll
    for (int i = 0; i < ranks - 1; ++i)
      packets[i] = bench::load(place(s.mine, s.others[i], lap) + p);
#pragma unroll
    for (int i = 0; i < ranks - 1; ++i) {
      if (!is_there(packets[i], lap) &&
          !await(place(s.mine, s.others[i], lap) + p, lap, packets[i])) {
        *s.gave_up = 1;
        return;
      }
      all += __hiloint2double(int(packets[i].z), int(packets[i].x));
    }
    s.to[p] = all;
  }
}

/// For so many ranks.
auto sum_for(int ranks) {
  constexpr decltype(&sum<2>) kernels[] = {sum<2>, sum<3>, sum<4>, sum<5>, sum<6>, sum<7>, sum<8>};
  static_assert(most_ranks == 8);
  return kernels[ranks - 2];
}

std::size_t whole_packets(std::size_t bytes) { return (bytes + 7) / 8; }

/// Opens the others' memory; "" or why that cannot be. Every rank gets the same.
std::string map_all(std::vector<unsigned char *> &memory, int rank) {
  std::vector<cudaIpcMemHandle_t> handles(memory.size());
  cudaError_t error = cudaIpcGetMemHandle(&handles[rank], memory[rank]);
  MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, handles.data(), sizeof handles[0], MPI_BYTE,
                MPI_COMM_WORLD);
  for (std::size_t other = 0; other < memory.size() && error == cudaSuccess; ++other)
    if (int(other) != rank)
      error = cudaIpcOpenMemHandle(reinterpret_cast<void **>(&memory[other]), handles[other],
                                   cudaIpcMemLazyEnablePeerAccess);
  int worst = error;
  MPI_Allreduce(MPI_IN_PLACE, &worst, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  (void)cudaGetLastError(); // which synchronize() would report
  return worst == cudaSuccess ? ""
                              : std::string("Bare stores: a rank cannot map another's memory (") +
                                    cudaGetErrorString(cudaError_t(worst)) + ").";
}

} // namespace

bare::Link::Link(const bench::Bench &bench, std::size_t most_stored)
    : rank_(bench.rank), ranks_(bench.ranks), memory_(bench.ranks) {
  if (ranks_ < 2 || ranks_ > most_ranks) {
    why_not_ = "Bare stores: between two to eight ranks alone.";
    return;
  }
  // Whole pages of CUDA's: what other processes map begins where this does.
  constexpr std::size_t page = 2 << 20;
  std::size_t bytes = (packets_bytes + most_stored + page) / page * page;
  CUDA_CHECK(cudaMalloc(&memory_[rank_], bytes));
  CUDA_CHECK(cudaMemset(memory_[rank_], 0, packets_bytes));
  CUDA_CHECK(cudaMalloc(&gave_up_, sizeof *gave_up_));
  CUDA_CHECK(cudaMemset(gave_up_, 0, sizeof *gave_up_));
  CUDA_CHECK(cudaDeviceSynchronize());
  why_not_ = map_all(memory_, rank_);
}

bare::Link::~Link() {
  for (int rank = 0; rank < ranks_; ++rank)
    if (rank != rank_ && memory_[rank] != nullptr)
      (void)cudaIpcCloseMemHandle(memory_[rank]);
  MPI_Barrier(MPI_COMM_WORLD); // nobody has it mapped any more
  (void)cudaFree(memory_[rank_]);
  (void)cudaFree(gave_up_);
}

void bare::Link::wait_for_kernel() const {
  bench::synchronize();
  if (bench::read(gave_up_, 1)[0] != 0)
    bench::give_up("bare stores: a kernel has waited in vain for another rank's.");
}

bench::Cell bare::Link::one_way(bench::Bench &bench, std::size_t bytes, double compute) {
  if (!available() || ranks_ != 2 || bytes > most_bytes)
    return {};
  const std::size_t packets = whole_packets(bytes);
  std::vector<unsigned> words(2 * packets);
  for (std::size_t i = 0; i < words.size(); ++i)
    words[i] = unsigned(31 * i);
  bench::Array<uint2> data(packets);
  bench::write(reinterpret_cast<unsigned *>(data.data()), words);
  const int rounds = bench.iterations_between_kernels(bytes);
  const int threads = int(std::min<std::size_t>((packets + 31) / 32 * 32, most_threads));
  unsigned hops = 0;
  bench::Cell cell = bench.measure(2 * rounds, [&] {
    (compute > 0 ? bounce<true> : bounce<false>)<<<1, threads>>>(
        {memory_[rank_], memory_[1 - rank_], data.data(), rank_, int(packets), rounds, lap_,
         compute, gave_up_});
    wait_for_kernel();
    lap_ += 2 * rounds;
    hops += 2 * rounds;
  });
  // Rank 0 has what came with the last hop, the other one what it has sent with that: one less.
  std::vector<unsigned> found =
      bench::read(reinterpret_cast<unsigned *>(data.data()), words.size());
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < words.size(); ++i)
    wrong += found[i] != words[i] + hops - unsigned(rank_ != 0);
  bench.wrong("bare stores, one way", wrong, "words");
  return cell;
}

bench::Cell bare::Link::stores(bench::Bench &bench, std::size_t bytes) {
  const std::size_t vectors = bytes / sizeof(uint4);
  if (!available() || ranks_ != 2 || vectors == 0)
    return {};
  bytes = vectors * sizeof(uint4);
  bench::Array<unsigned char> from(bytes);
  bench::fill(from.data(), bytes, int(bytes));
  unsigned char *mine = memory_[rank_] + packets_bytes,
                *theirs = memory_[1 - rank_] + packets_bytes;
  const int times = bench.iterations_between_kernels(bytes);
  bench::Cell cell = bench.measure(times, [&] {
    if (rank_ == 0)
      store_all<<<2 * bench.blocks(), 256>>>(reinterpret_cast<uint4 *>(theirs),
                                             reinterpret_cast<const uint4 *>(from.data()), vectors,
                                             times);
    bench::synchronize();
  });
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank_ == 1)
    bench.wrong("bare stores", bench::wrong_bytes(mine, bytes, int(bytes)), "bytes");
  return cell;
}

bench::Cell bare::Link::all_reduce(bench::Bench &bench, std::size_t bytes) {
  const int packets = int(whole_packets(bytes));
  if (!available() || packets > most_packets)
    return {};
  std::vector<double> values(packets);
  for (int i = 0; i < packets; ++i)
    values[i] = rank_ + i;
  bench::Array<double> from(packets), to(packets);
  bench::write(from.data(), values);
  Sum s = {};
  s.mine = memory_[rank_];
  for (int rank = 0, i = 0; rank < ranks_; ++rank)
    if (rank != rank_) {
      s.theirs[i] = memory_[rank];
      s.others[i++] = rank;
    }
  s.from = from.data(), s.to = to.data();
  s.rank = rank_, s.packets = packets;
  s.calls = bench.iterations_between_kernels(bytes);
  s.gave_up = gave_up_;
  const int threads = std::min(256, (packets + 31) / 32 * 32);
  bench::Cell cell = bench.measure(s.calls, [&] {
    s.lap = lap_;
    sum_for(ranks_)<<<(packets + threads - 1) / threads, threads>>>(s);
    wait_for_kernel();
    lap_ += s.calls;
  });
  std::vector<double> found = bench::read(to.data(), packets);
  std::size_t wrong = 0;
  for (int i = 0; i < packets; ++i)
    wrong += found[i] != ranks_ * (ranks_ - 1) / 2.0 + double(ranks_) * i;
  bench.wrong("bare stores, sum", wrong, "doubles");
  return cell;
}

#endif
