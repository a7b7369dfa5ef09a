// A message to the other rank's kernel and back, by size: at each scope and with each lowering,
// beside what one does without MPI in kernels. After paper 000, figures 10 and 11; with --compute,
// a kernel's work between receive and send, after paper 002, figures 13 and 18.
//
// Every byte is verified: in an untimed run each rank adds one to all of them before it sends, so
// what comes home shows how often it has travelled; the timed runs return what they were given.
#include "bare_link.h"
#include "bench.h"
#include "device_clock.h"
#include "nvshmem_column.h"
#include "with_nccl.h"

#if defined(OPEN_MPI) && __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

using bench::Role;

/// One size's exchange, as each variant gets it.
struct PingPong {
  unsigned char *buffer; ///< of the device
  unsigned char *pinned;
  int bytes, peer;
  MPI_Comm comm;  ///< of the kernels' messages
  bool first;     ///< this rank sends, then receives; the other one the other way round
  bool touch;     ///< add one to every byte before it is sent
  double compute; ///< microseconds of work before a message is sent
  int rounds;
};

/// By values: what a split kernel passes by reference would live in memory.
__device__ static void work(unsigned char *buffer, int bytes, bool touch, double microseconds,
                            int thread, int threads) {
  if (touch)
    for (int i = thread; i < bytes; i += threads)
      buffer[i] += 1;
  bench::compute(microseconds);
}

static __global__ void pingpong_thread(PingPong e) {
  if (threadIdx.x == 0 && blockIdx.x == 0)
    for (int i = 0; i < 2 * e.rounds; ++i) {
      bool sends = e.first == (i % 2 == 0);
      if (sends) {
        work(e.buffer, e.bytes, e.touch, e.compute, 0, 1);
        MPI_Send(e.buffer, e.bytes, MPI_BYTE, e.peer, 0, e.comm);
      } else {
        MPI_Recv(e.buffer, e.bytes, MPI_BYTE, e.peer, 0, e.comm, MPI_STATUS_IGNORE);
      }
    }
}

static __global__ void pingpong_block(PingPong e) {
  if (blockIdx.x == 0)
    for (int i = 0; i < 2 * e.rounds; ++i) {
      bool sends = e.first == (i % 2 == 0);
      if (sends) {
        work(e.buffer, e.bytes, e.touch, e.compute, threadIdx.x, blockDim.x);
        MPI_Send(e.buffer, e.bytes, MPI_BYTE, e.peer, 0, e.comm);
      } else {
        MPI_Recv(e.buffer, e.bytes, MPI_BYTE, e.peer, 0, e.comm, MPI_STATUS_IGNORE);
      }
    }
}

static __global__ void pingpong_grid(PingPong e) {
  for (int i = 0; i < 2 * e.rounds; ++i) {
    bool sends = e.first == (i % 2 == 0);
    if (sends) {
      work(e.buffer, e.bytes, e.touch, e.compute, blockIdx.x * blockDim.x + threadIdx.x,
           gridDim.x * blockDim.x);
      MPI_Send(e.buffer, e.bytes, MPI_BYTE, e.peer, 0, e.comm);
    } else {
      MPI_Recv(e.buffer, e.bytes, MPI_BYTE, e.peer, 0, e.comm, MPI_STATUS_IGNORE);
    }
  }
}

/// The same work, as a kernel between two exchanges that the host makes.
static __global__ void work_kernel(PingPong e) {
  work(e.buffer, e.bytes, e.touch, e.compute, blockIdx.x * blockDim.x + threadIdx.x,
       gridDim.x * blockDim.x);
}

namespace {

struct Shape {
  int blocks, threads;
};

/// Alternates sending and receiving, as the kernels do.
template <class Send, class Receive> void alternate(const PingPong &e, Send send, Receive receive) {
  for (int i = 0; i < 2 * e.rounds; ++i)
    if (e.first == (i % 2 == 0))
      send();
    else
      receive();
}

void host_send(const void *from, const PingPong &e) {
  MPI_Send(from, e.bytes, MPI_BYTE, e.peer, 0, MPI_COMM_WORLD);
}

void host_receive(void *to, const PingPong &e) {
  MPI_Recv(to, e.bytes, MPI_BYTE, e.peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/// Kernel, copy to the host, MPI, copy to the device.
void classic(const PingPong &e, Shape shape, cudaStream_t stream) {
  alternate(
      e,
      [&] {
        work_kernel<<<shape.blocks, shape.threads, 0, stream>>>(e);
        CUDA_CHECK(cudaMemcpyAsync(e.pinned, e.buffer, e.bytes, cudaMemcpyDeviceToHost, stream));
        CUDA_CHECK(cudaStreamSynchronize(stream));
        host_send(e.pinned, e);
      },
      [&] {
        host_receive(e.pinned, e);
        CUDA_CHECK(cudaMemcpyAsync(e.buffer, e.pinned, e.bytes, cudaMemcpyHostToDevice, stream));
      });
  CUDA_CHECK(cudaStreamSynchronize(stream));
}

/// Kernel, then MPI with the device's address.
void gpu_aware(const PingPong &e, Shape shape, cudaStream_t stream) {
  alternate(
      e,
      [&] {
        work_kernel<<<shape.blocks, shape.threads, 0, stream>>>(e);
        CUDA_CHECK(cudaStreamSynchronize(stream));
        host_send(e.buffer, e);
      },
      [&] { host_receive(e.buffer, e); });
}

void with_nccl(const PingPong &e, Shape shape, cudaStream_t stream) {
  alternate(
      e,
      [&] {
        work_kernel<<<shape.blocks, shape.threads, 0, stream>>>(e);
        nccl::send(e.buffer, e.bytes, e.peer, stream);
      },
      [&] { nccl::receive(e.buffer, e.bytes, e.peer, stream); });
  CUDA_CHECK(cudaStreamSynchronize(stream));
}

/// What no kernel can be faster than by way of this MPI: the hosts exchange memory of their own.
void hosts_alone(const PingPong &e) {
  alternate(
      e,
      [&] {
        for (int i = 0; e.touch && i < e.bytes; ++i)
          e.pinned[i] += 1;
        for (double start = MPI_Wtime(); 1e6 * (MPI_Wtime() - start) < e.compute;)
          ;
        host_send(e.pinned, e);
      },
      [&] { host_receive(e.pinned, e); });
}

/// Whether this MPI takes the device's addresses.
bool is_gpu_aware() {
  int aware = 0;
#if defined(MPIX_CUDA_AWARE_SUPPORT)
  aware = MPIX_Query_cuda_support();
#elif defined(MPIX_GPU_SUPPORT_CUDA)
  MPIX_GPU_query_support(MPIX_GPU_SUPPORT_CUDA, &aware);
#endif
  return aware != 0;
}

/// Microseconds of one way; says so where a byte is wrong. `data`: what travels, on either side.
template <class Run>
bench::Sample measure(bench::Bench &bench, PingPong e, unsigned char *data, const char *what,
                      Run run) {
  int rounds = e.rounds;
  bench::fill(data, e.bytes, e.bytes);
  e.touch = true;
  e.rounds = 2;
  run(e);
  e.touch = false;
  e.rounds = rounds;
  bench::Sample sample = bench.measure(2 * rounds, [&] { run(e); });
  // Both ranks hold what came back last: rank 1's last hop has been added on either.
  bench.wrong(what, bench::wrong_bytes(data, e.bytes, e.bytes, 4),
              "of " + std::to_string(e.bytes) + " bytes");
  return sample;
}

PingPong between_kernels(const bench::Bench &bench, PingPong e) {
  e.rounds = bench.iterations_between_kernels(e.bytes);
  return e;
}

nvshmem::Column with_nvshmem(bench::Bench &bench, const std::vector<PingPong> &exchanges) {
  auto of_size = [&](nvshmem::Peer &peer, std::size_t i, const bench::Stream &stream) {
    PingPong among = between_kernels(bench, exchanges[i]);
    return measure(bench, among, peer.buffer(), "NVSHMEM", [&](const PingPong &e) {
      MPI_Barrier(MPI_COMM_WORLD); // what is put arrives whether the other has begun or not
      peer.pingpong(e.bytes, e.first, e.touch, e.compute, e.rounds, bench.threads(), stream);
      stream.synchronize();
    });
  };
  return nvshmem::column(exchanges.size(), exchanges.back().bytes, of_size);
}

/// Messages that are longer are stored where they belong if other processes can map that.
constexpr int longest_eager = 65536;

/// One size: a row of the table. `unmapped`: as much memory as e's, which no other process can map.
void line(bench::Bench &bench, const PingPong &e, unsigned char *unmapped, Shape grid,
          const bench::Stream &stream, const bench::Cell &nvshmem,
          const bench::KernelsComm &kernels, bare::Link &link) {
  auto kernel = [&](void (*kernel)(PingPong), Shape shape, const PingPong &e, const char *lowering,
                    const char *what) {
    bench::PreferredLowering preferred(lowering);
    return measure(bench, e, e.buffer, what, [&](const PingPong &e) {
      kernel<<<shape.blocks, shape.threads>>>(e);
      bench::synchronize();
    });
  };
  auto peer = [&](auto run, const char *what) {
    return measure(bench, e, e.buffer, what,
                   [&](const PingPong &e) { run(e, grid, static_cast<cudaStream_t>(stream)); });
  };
  Shape one_thread = {1, 32}, block = {1, grid.threads};
  bool has_thread = e.bytes <= longest_eager;
  bench::Cell queue[3], carried[3], through_ring, aware, nccl;
  if (has_thread)
    queue[0] = kernel(pingpong_thread, one_thread, e, "queue", "thread, queue");
  queue[1] = kernel(pingpong_block, block, e, "queue", "block, queue");
  queue[2] = kernel(pingpong_grid, grid, e, "queue", "grid, queue");
  bench::Cell split = kernel(pingpong_grid, grid, e, "split", "grid, split");
  if (kernels.available()) {
    PingPong among = between_kernels(bench, e);
    among.comm = kernels.get();
    if (has_thread)
      carried[0] = kernel(pingpong_thread, one_thread, among, "queue", "thread, peer");
    carried[1] = kernel(pingpong_block, block, among, "queue", "block, peer");
    carried[2] = kernel(pingpong_grid, grid, among, "queue", "grid, peer");
    among.buffer = unmapped;
    if (e.bytes > longest_eager)
      through_ring = kernel(pingpong_grid, grid, among, "queue", "grid, peer, through a ring");
  }
  bench::Cell by_hand = peer(classic, "classic");
  bench::Cell hosts = measure(bench, e, e.pinned, "host MPI", hosts_alone);
  if (is_gpu_aware())
    aware = peer(gpu_aware, "GPU-aware MPI");
  if (nccl::available())
    nccl = peer(with_nccl, "NCCL");
  bench::Cell packets = link.one_way(bench, e.bytes, e.compute), stores;
  if (e.compute <= 0 && e.bytes > longest_eager)
    stores = link.stores(bench, e.bytes);
  bench.row({e.bytes, queue[0], queue[1], queue[2], split, carried[0], carried[1], carried[2],
             through_ring, by_hand, aware, nccl, nvshmem, hosts, packets, stores});
}

} // namespace

void experiments::pingpong(bench::Bench &bench) {
  Shape grid = {bench.blocks(), bench.threads()};
  double compute = bench.options.number("compute", 0);
  std::string title = "Ping-pong, one way; grid: " + std::to_string(grid.blocks) + " blocks";
  if (compute > 0)
    title += "; " + std::to_string(int(compute)) + " us of work before each message";
  std::vector<std::size_t> sizes = bench.sizes(8, 16 << 20);
  std::size_t room = sizes.back();
  bench::Array<unsigned char> buffer(room), pinned(room, bench::Memory::pinned);
  bench::Array<unsigned char> unmapped(room, bench::Memory::pool);
  bench::Stream stream;
  std::vector<PingPong> exchanges;
  for (std::size_t bytes : sizes)
    exchanges.push_back({buffer.data(), pinned.data(), static_cast<int>(bytes), 1 - bench.rank,
                         MPI_COMM_WORLD, bench.rank == 0, false, compute,
                         bench.iterations(bytes, 100)});
  bench::KernelsComm kernels;
  bare::Link link(bench, room);
  nvshmem::Column by_nvshmem = with_nvshmem(bench, exchanges);
  bench.table(
      title,
      {{"size", "B", Role::x},
       {"thread, queue", "us", Role::ours},
       {"block, queue", "us", Role::ours},
       {"grid, queue", "us", Role::ours},
       {"grid, split", "us", Role::ours},
       {"thread, peer", "us", Role::ours},
       {"block, peer", "us", Role::ours},
       {"grid, peer", "us", Role::ours},
       {"grid, peer, through a ring", "us", Role::ours},
       {"classic", "us", Role::peer},
       {"GPU-aware MPI", "us", Role::peer},
       {"NCCL", "us", Role::peer},
       {"NVSHMEM, block", "us", Role::peer},
       {"host MPI", "us", Role::limit},
       {"bare packets, block", "us", Role::limit},
       {"bare stores, grid", "us", Role::limit}},
      bench::note({bench::long_messages(), kernels.why_not(), link.why_not(),
                   is_gpu_aware() ? "" : "GPU-aware MPI: the library does not say that it is.",
                   nccl::why_not(), by_nvshmem.why_not}));
  for (std::size_t i = 0; i < sizes.size(); ++i)
    line(bench, exchanges[i], unmapped.data(), grid, stream, by_nvshmem.cells[i], kernels, link);
}
