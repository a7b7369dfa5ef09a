// Ping-pong between the kernels of two ranks: rank 0's kernel sends a message, rank 1's sends it
// back, with plain MPI calls. Prints one-way time and bandwidth by message size.
//
// Every byte is verified: in an untimed first round each kernel adds one to every byte before it
// sends, so what comes home shows how often each byte has travelled; the timed round then returns
// what it was given.
//
//   mpiexec -n 2 ./pingpong [--min BYTES] [--max BYTES] [--iterations N] [--blocks N] [--threads N]
//                           [--compare] [--by-hand]
//
// --compare, for a program translated with --lower=queue,split, times both lowerings on the same
// data, and the same exchange between the hosts: what split takes beyond that is to be seen beside
// one launch and synchronisation, the least that a segment between two MPI calls can cost.
// --by-hand also times what one writes without MPI in kernels: kernel, copy to the host, MPI, copy
// to the device.
#include <mpi.h>

#include "../common/compare.h"
#include "../common/refuse.h"

#include <cstdlib>
#include <cstring>
#include <vector>

__device__ void add_one(unsigned char *buffer, int bytes) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < bytes; i += gridDim.x * blockDim.x)
    buffer[i] += 1;
}

__global__ void pingpong(unsigned char *buffer, int bytes, int peer, bool serves, bool touch,
                         int iterations) {
  for (int i = 0; i < iterations; ++i) {
    if (serves) {
      if (touch)
        add_one(buffer, bytes);
      MPI_Send(buffer, bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD);
    }
    MPI_Recv(buffer, bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (!serves) {
      if (touch)
        add_one(buffer, bytes);
      MPI_Send(buffer, bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD);
    }
  }
}

__global__ void step(unsigned char *buffer) { buffer[0] += 1; }

struct Options {
  int min_bytes = 8; // each size is eight times the one before
  int max_bytes = 1 << 22;
  int iterations = 0; // 0: by size
  int blocks = 1;
  int threads = 256;
  bool compare = false;
  bool by_hand = false;
};

static Options parse(int argc, char **argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    bool *chosen = !std::strcmp(argv[i], "--by-hand")   ? &options.by_hand
                   : !std::strcmp(argv[i], "--compare") ? &options.compare
                                                        : nullptr;
    if (chosen != nullptr) {
      *chosen = true;
      continue;
    }
    int *value = !std::strcmp(argv[i], "--min")          ? &options.min_bytes
                 : !std::strcmp(argv[i], "--max")        ? &options.max_bytes
                 : !std::strcmp(argv[i], "--iterations") ? &options.iterations
                 : !std::strcmp(argv[i], "--blocks")     ? &options.blocks
                 : !std::strcmp(argv[i], "--threads")    ? &options.threads
                                                         : nullptr;
    if (value == nullptr || i + 1 == argc || (*value = std::atoi(argv[++i])) <= 0)
      refuse("usage: pingpong [--min BYTES] [--max BYTES] [--iterations N] "
             "[--blocks N] [--threads N] [--compare] [--by-hand]");
  }
  return options;
}

static unsigned char pattern(int i) { return static_cast<unsigned char>(i * 7 + i / 251); }

/// Bytes of `device` that are not pattern + hops.
static int wrong_bytes(const unsigned char *device, int bytes, int hops) {
  std::vector<unsigned char> host(bytes);
  CUDA_CHECK(cudaMemcpy(host.data(), device, bytes, cudaMemcpyDeviceToHost));
  int wrong = 0;
  for (int i = 0; i < bytes; ++i)
    wrong += host[i] != static_cast<unsigned char>(pattern(i) + hops);
  return wrong;
}

/// One round of `iterations` there and back; returns seconds.
static double round_trip(unsigned char *buffer, int bytes, int rank, bool touch, int iterations,
                         const Options &options) {
  MPI_Barrier(MPI_COMM_WORLD);
  double start = MPI_Wtime();
  pingpong<<<options.blocks, options.threads>>>(buffer, bytes, 1 - rank, rank == 0, touch,
                                                iterations);
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaDeviceSynchronize());
  return MPI_Wtime() - start;
}

/// The same exchange with the host between kernel and kernel; returns seconds.
static double round_trip_by_hand(unsigned char *buffer, unsigned char *host, int bytes, int rank,
                                 int iterations, cudaStream_t stream) {
  auto send = [&] {
    step<<<1, 1, 0, stream>>>(buffer);
    CUDA_CHECK(cudaMemcpyAsync(host, buffer, bytes, cudaMemcpyDeviceToHost, stream));
    CUDA_CHECK(cudaStreamSynchronize(stream));
    MPI_Send(host, bytes, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD);
  };
  auto receive = [&] {
    MPI_Recv(host, bytes, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CUDA_CHECK(cudaMemcpyAsync(buffer, host, bytes, cudaMemcpyHostToDevice, stream));
  };
  MPI_Barrier(MPI_COMM_WORLD);
  double start = MPI_Wtime();
  for (int i = 0; i < iterations; ++i) {
    if (rank == 0)
      send();
    receive();
    if (rank == 1)
      send();
  }
  CUDA_CHECK(cudaStreamSynchronize(stream));
  return MPI_Wtime() - start;
}

/// The exchange between the two hosts, without kernels; returns seconds.
static double round_trip_of_hosts(unsigned char *host, int bytes, int rank, int iterations) {
  MPI_Barrier(MPI_COMM_WORLD);
  double start = MPI_Wtime();
  for (int i = 0; i < iterations; ++i) {
    if (rank == 0)
      MPI_Send(host, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    MPI_Recv(host, bytes, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1)
      MPI_Send(host, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
  }
  return MPI_Wtime() - start;
}

struct Times {
  double one_way; ///< us
  bool right;     ///< every byte, on both ranks
};

/// Both rounds, on fresh data.
static Times run(unsigned char *buffer, int bytes, int rank, int iterations,
                 const Options &options) {
  std::vector<unsigned char> host(bytes);
  for (int i = 0; i < bytes; ++i)
    host[i] = pattern(i);
  CUDA_CHECK(cudaMemcpy(buffer, host.data(), bytes, cudaMemcpyHostToDevice));
  int checks = 3;
  round_trip(buffer, bytes, rank, true, checks, options);
  int hops = 2 * checks; // both ranks hold what came back last
  int wrong = wrong_bytes(buffer, bytes, hops);
  double seconds = round_trip(buffer, bytes, rank, false, iterations, options);
  wrong += wrong_bytes(buffer, bytes, hops);
  int all_wrong = 0;
  MPI_Allreduce(&wrong, &all_wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  return {1e6 * seconds / iterations / 2, all_wrong == 0};
}

/// The lowerings beside each other, in one line of the table; false where a byte is wrong.
static bool compare_line(unsigned char *buffer, unsigned char *pinned, int bytes, int rank,
                         int iterations, const Options &options) {
  gmpi::prefer_lowering("queue");
  Times queue = run(buffer, bytes, rank, iterations, options);
  gmpi::prefer_lowering("split");
  Times split = run(buffer, bytes, rank, iterations, options);
  gmpi::prefer_lowering("");
  round_trip_of_hosts(pinned, bytes, rank, 5); // warm-up
  double hosts = 1e6 * round_trip_of_hosts(pinned, bytes, rank, iterations) / iterations / 2;
  double limit = compare::launch_and_synchronise();
  bool right = queue.right && split.right;
  if (rank == 0)
    std::printf("%12d %12.2f %12.2f %12.2f %14.2f %20.2f   %14s", bytes, queue.one_way,
                split.one_way, hosts, split.one_way - hosts, limit, right ? "yes" : "NO");
  return right;
}

/// One message size; false where a byte is wrong.
static bool line(unsigned char *buffer, unsigned char *pinned, int bytes, int rank, int iterations,
                 const Options &options) {
  if (options.compare)
    return compare_line(buffer, pinned, bytes, rank, iterations, options);
  Times times = run(buffer, bytes, rank, iterations, options);
  if (rank == 0)
    std::printf("%12d %16.2f %14.3f   %14s", bytes, times.one_way, bytes / times.one_way * 1e-3,
                times.right ? "yes" : "NO");
  return times.right;
}

static void print_head(const Options &options) {
  if (options.compare)
    std::printf("One way, in us:\n%12s %12s %12s %12s %14s %20s   %s", "bytes", "queue", "split",
                "host MPI", "split - host", "launch+synchronise", "bytes verified");
  else
    std::printf("%12s %16s %14s   %s", "bytes", "one way (us)", "GB/s", "bytes verified");
  std::printf("%s\n", options.by_hand ? "   by hand (us)" : "");
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  Options options = parse(argc, argv);
  if (size != 2)
    refuse("pingpong takes two ranks: mpiexec -n 2 ./pingpong");

  unsigned char *buffer, *pinned;
  cudaStream_t stream;
  CUDA_CHECK(cudaMalloc(&buffer, options.max_bytes));
  CUDA_CHECK(cudaMallocHost(&pinned, options.max_bytes));
  CUDA_CHECK(cudaStreamCreate(&stream));
  if (rank == 0)
    print_head(options);
  bool right = true;
  for (long long bytes = options.min_bytes; bytes <= options.max_bytes; bytes *= 8) {
    int n = static_cast<int>(bytes);
    int iterations = options.iterations ? options.iterations : bytes <= 65536 ? 200 : 20;
    right = line(buffer, pinned, n, rank, iterations, options) && right;
    if (options.by_hand) {
      round_trip_by_hand(buffer, pinned, n, rank, 5, stream); // warm-up
      double by_hand = round_trip_by_hand(buffer, pinned, n, rank, iterations, stream);
      if (rank == 0)
        std::printf(" %14.2f", by_hand / iterations / 2 * 1e6);
    }
    if (rank == 0)
      std::printf("\n");
  }
  CUDA_CHECK(cudaStreamDestroy(stream));
  CUDA_CHECK(cudaFreeHost(pinned));
  CUDA_CHECK(cudaFree(buffer));
  MPI_Finalize();
  return right ? 0 : 1;
}
