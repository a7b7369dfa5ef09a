// How much goes from kernel to kernel in a second: a window of MPI_Isend against a window of
// MPI_Irecv, by size of a message. Beside the same between hosts, and with copies by hand.
#include "bare_link.h"
#include "bench.h"
#include "nvshmem_column.h"

using bench::Role;

constexpr int most_messages = 64; // --window's limit

/// A window of messages goes, an empty one comes back when all have arrived; so many rounds.
struct Windows {
  unsigned char *buffer; ///< the messages one behind the other
  int bytes, window, peer, rounds;
  bool sends;
  MPI_Comm comm; ///< of the messages
};

/// One window: all of its messages are under way at a time.
__host__ __device__ static void exchange(Windows w) {
  MPI_Request requests[most_messages];
  for (int k = 0; k < w.window; ++k) {
    unsigned char *message = w.buffer + std::size_t(k) * w.bytes;
    if (w.sends)
      MPI_Isend(message, w.bytes, MPI_BYTE, w.peer, k, w.comm, &requests[k]);
    else
      MPI_Irecv(message, w.bytes, MPI_BYTE, w.peer, k, w.comm, &requests[k]);
  }
  MPI_Waitall(w.window, requests, MPI_STATUSES_IGNORE);
}

/// The empty message that comes back.
__host__ __device__ static void answer(Windows w) {
  if (w.sends)
    MPI_Recv(nullptr, 0, MPI_BYTE, w.peer, w.window, w.comm, MPI_STATUS_IGNORE);
  else
    MPI_Send(nullptr, 0, MPI_BYTE, w.peer, w.window, w.comm);
}

static __global__ void windows_block(Windows w) {
  if (blockIdx.x == 0)
    for (int i = 0; i < w.rounds; ++i) {
      exchange(w);
      answer(w);
    }
}

static __global__ void windows_grid(Windows w) {
  for (int i = 0; i < w.rounds; ++i) {
    exchange(w);
    answer(w);
  }
}

namespace {

/// Windows between the hosts; `before` and `behind` each, on the side that sends and receives.
template <class Before, class Behind>
void host_windows(const Windows &w, Before before, Behind behind) {
  for (int i = 0; i < w.rounds; ++i) {
    if (w.sends)
      before();
    exchange(w);
    if (!w.sends)
      behind();
    answer(w);
  }
}

void hosts_alone(const Windows &w) {
  host_windows(w, [] {}, [] {});
}

/// Copies between `device` and w's buffer, which is the host's.
void classic(const Windows &w, unsigned char *device, const bench::Stream &stream) {
  std::size_t all = std::size_t(w.window) * w.bytes;
  auto copy = [&](void *to, const void *from) {
    CUDA_CHECK(cudaMemcpyAsync(to, from, all, cudaMemcpyDefault, stream));
    stream.synchronize();
  };
  host_windows(w, [&] { copy(w.buffer, device); }, [&] { copy(device, w.buffer); });
}

/// GB a second; says so where a byte of the last window is wrong. `data`: where it is.
template <class Run>
bench::Sample measure(bench::Bench &bench, const Windows &w, unsigned char *data, const char *what,
                      Run run) {
  std::size_t all = std::size_t(w.window) * w.bytes;
  bench::fill(data, all, w.sends ? 1 : 2);
  bench::Sample sample = bench.measure(w.rounds, run);
  bench.wrong(what, bench::wrong_bytes(data, all, 1), "bytes");
  return sample.into(1e-3 * all);
}

nvshmem::Column with_nvshmem(bench::Bench &bench, const std::vector<Windows> &all) {
  auto of_size = [&](nvshmem::Peer &peer, std::size_t i, const bench::Stream &stream) {
    const Windows &w = all[i];
    return measure(bench, w, peer.buffer(), "NVSHMEM", [&] {
      peer.windows(w.bytes, w.window, w.sends, w.rounds, bench.threads(), stream);
      stream.synchronize();
    });
  };
  std::size_t room = std::size_t(all.back().window) * all.back().bytes;
  return nvshmem::column(all.size(), room, of_size);
}

void line(bench::Bench &bench, const Windows &w, unsigned char *pinned, int blocks,
          const bench::Stream &stream, const bench::Cell &nvshmem,
          const bench::KernelsComm &kernels, bare::Link &link) {
  auto kernel = [&](void (*kernel)(Windows), int blocks, const Windows &w, const char *lowering,
                    const char *what) {
    bench::PreferredLowering preferred(lowering);
    return measure(bench, w, w.buffer, what, [&] {
      kernel<<<blocks, bench.threads()>>>(w);
      bench::synchronize();
    });
  };
  Windows hosts = w;
  hosts.buffer = pinned;
  bench::Cell block = kernel(windows_block, 1, w, "queue", "block, queue");
  bench::Cell queue = kernel(windows_grid, blocks, w, "queue", "grid, queue");
  bench::Cell split = kernel(windows_grid, blocks, w, "split", "grid, split");
  bench::Cell peer_block, peer_grid;
  if (kernels.available()) {
    Windows among = w;
    among.comm = kernels.get();
    peer_block = kernel(windows_block, 1, among, "queue", "block, peer");
    peer_grid = kernel(windows_grid, blocks, among, "queue", "grid, peer");
  }
  bench::Cell by_hand =
      measure(bench, w, w.buffer, "classic", [&] { classic(hosts, w.buffer, stream); });
  bench::Cell limit = measure(bench, w, pinned, "host MPI", [&] { hosts_alone(hosts); });
  const std::size_t window = std::size_t(w.window) * w.bytes;
  bench::Cell stores = link.stores(bench, window);
  if (stores.kind == bench::Cell::Kind::sample)
    stores = stores.sample.into(1e-3 * window);
  bench.row({w.bytes, block, queue, split, peer_block, peer_grid, by_hand, nvshmem, limit, stores});
}

} // namespace

void experiments::bandwidth(bench::Bench &bench) {
  int window = bench.options.integer("window", 16), blocks = bench.blocks();
  std::vector<std::size_t> sizes = bench.sizes(1024, 4 << 20);
  std::size_t room = sizes.back() * window;
  bench::Array<unsigned char> buffer(room), pinned(room, bench::Memory::pinned);
  bench::Stream stream;
  std::vector<Windows> all;
  for (std::size_t bytes : sizes)
    all.push_back({buffer.data(), static_cast<int>(bytes), window, 1 - bench.rank,
                   bench.iterations(bytes, 20), bench.rank == 0, MPI_COMM_WORLD});
  bench::KernelsComm kernels;
  bare::Link link(bench, room);
  nvshmem::Column by_nvshmem = with_nvshmem(bench, all);
  bench.table("Bandwidth one way, " + std::to_string(window) +
                  " messages at a time; grid: " + std::to_string(blocks) + " blocks",
              {{"size", "B", Role::x},
               {"block, queue", "GB/s", Role::ours},
               {"grid, queue", "GB/s", Role::ours},
               {"grid, split", "GB/s", Role::ours},
               {"block, peer", "GB/s", Role::ours},
               {"grid, peer", "GB/s", Role::ours},
               {"classic", "GB/s", Role::peer},
               {"NVSHMEM, block", "GB/s", Role::peer},
               {"host MPI", "GB/s", Role::limit},
               {"bare stores, grid", "GB/s", Role::limit}},
              bench::note({kernels.why_not(), link.why_not(), by_nvshmem.why_not}));
  for (std::size_t i = 0; i < all.size(); ++i)
    line(bench, all[i], pinned.data(), blocks, stream, by_nvshmem.cells[i], kernels, link);
}
