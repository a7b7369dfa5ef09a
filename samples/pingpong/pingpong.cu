// Ping-pong between the kernels of two ranks: rank 0's kernel sends a message, rank 1's sends it
// back, with plain MPI calls. Prints one-way time and bandwidth by message size.
//
// Every byte is verified: in an untimed first round each kernel adds one to every byte before it
// sends, so what comes home shows how often each byte has travelled; the timed round then returns
// what it was given.
//
//   mpiexec -n 2 ./pingpong [--max BYTES] [--iterations N] [--blocks N] [--threads N] [--by-hand]
//
// --by-hand also times what one writes without MPI in kernels: kernel, copy to the host, MPI, copy to
// the device.
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define CUDA_CHECK(call)                                                                           \
  do {                                                                                             \
    cudaError_t error = (call);                                                                    \
    if (error != cudaSuccess) {                                                                    \
      std::fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error));                          \
      MPI_Abort(MPI_COMM_WORLD, 1);                                                                \
    }                                                                                              \
  } while (0)

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
  int max_bytes = 1 << 22;
  int iterations = 0; // 0: by size
  int blocks = 1;
  int threads = 256;
  bool by_hand = false;
};

static Options parse(int argc, char **argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    if (!std::strcmp(argv[i], "--by-hand")) {
      options.by_hand = true;
      continue;
    }
    int *value = !std::strcmp(argv[i], "--max")          ? &options.max_bytes
                 : !std::strcmp(argv[i], "--iterations") ? &options.iterations
                 : !std::strcmp(argv[i], "--blocks")     ? &options.blocks
                 : !std::strcmp(argv[i], "--threads")    ? &options.threads
                                                         : nullptr;
    if (value == nullptr || i + 1 == argc || (*value = std::atoi(argv[++i])) <= 0) {
      std::fprintf(stderr, "usage: pingpong [--max BYTES] [--iterations N] [--blocks N] "
                           "[--threads N] [--by-hand]\n");
      MPI_Abort(MPI_COMM_WORLD, 2);
    }
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
  pingpong<<<options.blocks, options.threads>>>(buffer, bytes, 1 - rank, rank == 0, touch, iterations);
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

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  Options options = parse(argc, argv);
  if (size != 2) {
    if (rank == 0)
      std::fprintf(stderr, "pingpong takes two ranks: mpiexec -n 2 ./pingpong\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }

  unsigned char *buffer;
  CUDA_CHECK(cudaMalloc(&buffer, options.max_bytes));
  unsigned char *pinned;
  cudaStream_t stream;
  CUDA_CHECK(cudaMallocHost(&pinned, options.max_bytes));
  CUDA_CHECK(cudaStreamCreate(&stream));
  if (rank == 0)
    std::printf("%12s %16s %14s   %s%s\n", "bytes", "one way (us)", "GB/s", "bytes verified",
                options.by_hand ? "   by hand (us)" : "");
  int failures = 0;
  for (long long bytes = 8; bytes <= options.max_bytes; bytes *= 8) {
    int n = static_cast<int>(bytes);
    std::vector<unsigned char> host(n);
    for (int i = 0; i < n; ++i)
      host[i] = pattern(i);
    CUDA_CHECK(cudaMemcpy(buffer, host.data(), n, cudaMemcpyHostToDevice));
    int checks = 3;
    int iterations = options.iterations ? options.iterations : bytes <= 65536 ? 200 : 20;
    round_trip(buffer, n, rank, true, checks, options);
    int hops = 2 * checks; // both ranks hold what came back last
    int wrong = wrong_bytes(buffer, n, hops);
    double seconds = round_trip(buffer, n, rank, false, iterations, options);
    wrong += wrong_bytes(buffer, n, hops);
    int all_wrong = 0;
    MPI_Allreduce(&wrong, &all_wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    failures += all_wrong != 0;
    double one_way = seconds / iterations / 2;
    if (rank == 0)
      std::printf("%12d %16.2f %14.3f   %14s", n, one_way * 1e6, n / one_way * 1e-9,
                  all_wrong == 0 ? "yes" : "NO");
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
  return failures != 0;
}
