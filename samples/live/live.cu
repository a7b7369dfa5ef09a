// A kernel in whose loop ten variables of each thread live across an MPI call: what keeping them
// costs. Under `queue` they stay in registers; under `split` each segment saves them to memory and
// the next one restores them. Prints the time of a call by the number of blocks; the result is
// checked thread by thread.
//
//   gmpicxx --lower=queue,split live.cu -o live
//   mpiexec -n 2 ./live [--calls N] [--blocks N] [--threads N] [--compare]
//
// --compare: once with `queue`, once with `split`, and MPI_Allreduce made by the host.
#include <mpi.h>

#include "../common/compare.h"
#include "../common/refuse.h"

#include <cstdlib>
#include <cstring>
#include <vector>

/// Ten values from those before and one that all ranks have computed together. Exact, so that it
/// does not matter where it is computed.
#define NEXT(a, b, c, d, e, f, g, h, i, j, sum)                                                    \
  {                                                                                                \
    double first = 0.5 * a + sum;                                                                  \
    a = b, b = c, c = d, d = e, e = f, f = g, g = h, h = i, i = j, j = first;                      \
  }

__global__ void live(double *out, int rank, int calls) {
  double thread = blockIdx.x * blockDim.x + threadIdx.x;
  double a = thread, b = thread + 1, c = thread + 2, d = thread + 3, e = thread + 4;
  double f = thread + 5, g = thread + 6, h = thread + 7, i = thread + 8, j = thread + 9;
  for (int call = 0; call < calls; ++call) {
    int mine = rank + call % 4, sum;
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    NEXT(a, b, c, d, e, f, g, h, i, j, sum)
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] =
      a + 2 * (b + 2 * (c + 2 * (d + 2 * (e + 2 * (f + 2 * (g + 2 * (h + 2 * (i + 2 * j))))))));
}

struct Options {
  int calls = 200;
  int blocks = 0; // 0: 1, 16 and 132
  int threads = 256;
  bool compare = false;
};

static Options parse(int argc, char **argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    if (!std::strcmp(argv[i], "--compare")) {
      options.compare = true;
      continue;
    }
    int *value = !std::strcmp(argv[i], "--calls")     ? &options.calls
                 : !std::strcmp(argv[i], "--blocks")  ? &options.blocks
                 : !std::strcmp(argv[i], "--threads") ? &options.threads
                                                      : nullptr;
    if (value == nullptr || i + 1 == argc || (*value = std::atoi(argv[++i])) <= 0)
      refuse("usage: live [--calls N] [--blocks N] [--threads N] [--compare]");
  }
  return options;
}

/// What the thread with this number is to write.
static double wanted(int thread, int ranks, int calls) {
  double v[10];
  for (int k = 0; k < 10; ++k)
    v[k] = thread + k;
  for (int call = 0; call < calls; ++call) {
    int sum = ranks * (ranks - 1) / 2 + ranks * (call % 4);
    NEXT(v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7], v[8], v[9], sum)
  }
  double result = v[9];
  for (int k = 8; k >= 0; --k)
    result = v[k] + 2 * result;
  return result;
}

struct Times {
  double microseconds; ///< of a call
  bool right;          ///< on every rank
};

/// The kernel once to warm up, then timed.
static Times run(int blocks, int rank, int ranks, const Options &options) {
  std::vector<double> host(std::size_t(blocks) * options.threads);
  double *out;
  CUDA_CHECK(cudaMalloc(&out, host.size() * sizeof(double)));
  live<<<blocks, options.threads>>>(out, rank, 3);
  CUDA_CHECK(cudaDeviceSynchronize());
  MPI_Barrier(MPI_COMM_WORLD);
  double start = MPI_Wtime();
  live<<<blocks, options.threads>>>(out, rank, options.calls);
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaDeviceSynchronize());
  double seconds = MPI_Wtime() - start;
  CUDA_CHECK(cudaMemcpy(host.data(), out, host.size() * sizeof(double), cudaMemcpyDeviceToHost));
  CUDA_CHECK(cudaFree(out));
  int right = 1, all_right = 0;
  for (std::size_t thread = 0; thread < host.size(); ++thread)
    right = right && host[thread] == wanted(int(thread), ranks, options.calls);
  MPI_Allreduce(&right, &all_right, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
  return {1e6 * seconds / options.calls, all_right != 0};
}

/// Microseconds of the same call, made by the host.
static double host_call(const Options &options) {
  int mine = 1, sum = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  double start = MPI_Wtime();
  for (int call = 0; call < options.calls; ++call)
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  return 1e6 * (MPI_Wtime() - start) / options.calls;
}

/// One line of the table; false where a result is wrong.
static bool line(int blocks, int rank, int ranks, const Options &options) {
  if (!options.compare) {
    Times times = run(blocks, rank, ranks, options);
    if (rank == 0)
      std::printf("%8d %14.2f   %s\n", blocks, times.microseconds, times.right ? "yes" : "NO");
    return times.right;
  }
  gmpi::prefer_lowering("queue");
  Times queue = run(blocks, rank, ranks, options);
  gmpi::prefer_lowering("split");
  Times split = run(blocks, rank, ranks, options);
  double host = host_call(options), limit = compare::launch_and_synchronise();
  bool right = queue.right && split.right;
  if (rank == 0)
    std::printf("%8d %12.2f %12.2f %12.2f %14.2f %20.2f   %s\n", blocks, queue.microseconds,
                split.microseconds, host, split.microseconds - host, limit, right ? "yes" : "NO");
  return right;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  Options options = parse(argc, argv);
  if (rank == 0) {
    std::printf("MPI_Allreduce of one int on %d ranks, %d threads a block; us a call\n", ranks,
                options.threads);
    if (options.compare)
      std::printf("%8s %12s %12s %12s %14s %20s   %s\n", "blocks", "queue", "split", "host MPI",
                  "split - host", "launch+synchronise", "verified");
    else
      std::printf("%8s %14s   %s\n", "blocks", "us", "verified");
  }
  bool right = true;
  for (int blocks : {1, 16, 132})
    if (options.blocks == 0)
      right = line(blocks, rank, ranks, options) && right;
  if (options.blocks != 0)
    right = line(options.blocks, rank, ranks, options);
  MPI_Finalize();
  return right ? 0 : 1;
}
