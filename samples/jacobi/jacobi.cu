// Laplace's equation on a square by Jacobi's iteration, all of it in one kernel: each rank holds
// some rows, trades the rows at its edges with its neighbours by MPI_Sendrecv, and sums the change
// of a step over all ranks by MPI_Allreduce, until it is below the tolerance or the steps are used
// up.
//
// The result is checked against a serial solution on the host, point by point.
//
//   mpiexec -n 4 ./jacobi [--size N] [--steps N] [--tolerance T] [--blocks N] [--threads N]
//   [--no-check]
//                         [--compare]
//
// --compare, for a program translated with --lower=queue,split: once with each lowering, in one
// table, and the same MPI calls made by the hosts alone.
#include <mpi.h>

#include "../common/compare.h"
#include "../common/refuse.h"

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

constexpr int max_threads = 1024;

/// A rank's part of the square: `rows` rows of `width` points, its own being 1 ... rows - 2. The
/// first and last row are the neighbours', or the square's edge.
struct Part {
  int width, rows;
  int above, below; ///< the neighbours' ranks; MPI_PROC_NULL at the square's edges
};

struct Outcome {
  int steps;
  double change; ///< root of the sum of squares, over all points
};

__host__ __device__ inline double relaxed(const double *u, int width) {
  return 0.25 * ((u[-width] + u[width]) + (u[-1] + u[1]));
}

/// One step from u to v. Returns the sum of the squares of what this thread has changed.
__device__ double relax(const double *u, double *v, Part part) {
  double sum = 0;
  for (int row = 1 + blockIdx.x; row < part.rows - 1; row += gridDim.x)
    for (int column = 1 + threadIdx.x; column < part.width - 1; column += blockDim.x) {
      int i = row * part.width + column;
      v[i] = relaxed(u + i, part.width);
      sum += (v[i] - u[i]) * (v[i] - u[i]);
    }
  return sum;
}

/// The sum of the block's values, in its thread 0.
__device__ double sum_of_block(double value) {
  __shared__ double values[max_threads];
  values[threadIdx.x] = value;
  for (int n = blockDim.x; n > 1;) {
    int half = (n + 1) / 2;
    __syncthreads();
    if (threadIdx.x + half < n)
      values[threadIdx.x] += values[threadIdx.x + half];
    n = half;
  }
  return values[0];
}

__global__ void jacobi(double *u, double *v, Part part, int steps, double tolerance,
                       double *sum_by_block, Outcome *outcome) {
  double change = 0;
  int step = 0;
  while (step < steps) {
    double sum = sum_of_block(relax(u, v, part));
    if (threadIdx.x == 0)
      sum_by_block[blockIdx.x] = sum;

    // The whole grid makes these calls together: each begins once every thread has written its
    // points, and each thread goes on once the neighbours' rows are there. So they serve as the
    // grid's barrier, too.
    int width = part.width;
    MPI_Sendrecv(v + width, width, MPI_DOUBLE, part.above, 0, v + (part.rows - 1) * width, width,
                 MPI_DOUBLE, part.below, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(v + (part.rows - 2) * width, width, MPI_DOUBLE, part.below, 1, v, width,
                 MPI_DOUBLE, part.above, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);

    double squares = 0; // the same in every thread
    for (int block = 0; block < gridDim.x; ++block)
      squares += sum_by_block[block];
    MPI_Allreduce(MPI_IN_PLACE, &squares, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    change = sqrt(squares);

    double *old = u;
    u = v;
    v = old;
    ++step;
    if (change < tolerance)
      break;
  }
  if (blockIdx.x == 0 && threadIdx.x == 0)
    *outcome = {step, change};
}

// --- the host
// -----------------------------------------------------------------------------------------

struct Options {
  int size = 256; ///< points in each direction, the edges not counted
  int steps = 500;
  double tolerance = 1e-4;
  int blocks = 8;
  int threads = 128;
  bool check = true;
  bool compare = false;
};

[[noreturn]] static void usage(const char *problem) {
  refuse(std::string(problem) +
         "\nusage: jacobi [--size N] [--steps N] [--tolerance T] [--blocks N] [--threads N] "
         "[--no-check] [--compare]");
}

static Options parse(int argc, char **argv, int ranks) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    if (!std::strcmp(argv[i], "--no-check")) {
      options.check = false;
      continue;
    }
    if (!std::strcmp(argv[i], "--compare")) {
      options.compare = true;
      continue;
    }
    int *value = !std::strcmp(argv[i], "--size")      ? &options.size
                 : !std::strcmp(argv[i], "--steps")   ? &options.steps
                 : !std::strcmp(argv[i], "--blocks")  ? &options.blocks
                 : !std::strcmp(argv[i], "--threads") ? &options.threads
                                                      : nullptr;
    bool tolerance = !std::strcmp(argv[i], "--tolerance");
    if ((value == nullptr && !tolerance) || i + 1 == argc)
      usage("unknown option, or no value after it");
    ++i;
    if (tolerance)
      options.tolerance = std::atof(argv[i]);
    else if ((*value = std::atoi(argv[i])) <= 0)
      usage("sizes and numbers are 1 or more");
  }
  if (options.threads > max_threads)
    usage("a block has 1024 threads at most");
  if (options.size < ranks)
    usage("there must be a row for each rank");
  return options;
}

/// The square's edge: one value for each of its sides, so that no two parts of it look the same.
static double edge(int row, int column, int width) {
  double x = double(column) / (width - 1), y = double(row) / (width - 1);
  return row == 0 ? x : column == 0 ? -y : column == width - 1 ? 1 - 2 * y : 0.5 * x - 1;
}

/// Rows `first` ... of the square as it is at the start: zero within its edges.
static std::vector<double> start(int first, int rows, int width) {
  std::vector<double> u(std::size_t(rows) * width, 0.0);
  for (int row = 0; row < rows; ++row)
    for (int column = 0; column < width; ++column)
      if (first + row == 0 || first + row == width - 1 || column == 0 || column == width - 1)
        u[std::size_t(row) * width + column] = edge(first + row, column, width);
  return u;
}

/// `steps` steps on one processor; returns the last one's change.
static double solve_serially(std::vector<double> &u, int width, int steps) {
  std::vector<double> v = u;
  double change = 0;
  for (int step = 0; step < steps; ++step) {
    double squares = 0;
    for (int row = 1; row < width - 1; ++row)
      for (int i = row * width + 1; i < (row + 1) * width - 1; ++i) {
        v[i] = relaxed(&u[i], width);
        squares += (v[i] - u[i]) * (v[i] - u[i]);
      }
    std::swap(u, v);
    change = std::sqrt(squares);
  }
  return change;
}

/// True where this rank's rows and the change are what the serial solution has.
static bool is_right(const std::vector<double> &mine, int first, int width, const Outcome &outcome,
                     const Options &options) {
  std::vector<double> serial = start(0, width, width);
  double change = solve_serially(serial, width, outcome.steps);
  double worst = 0;
  for (std::size_t i = 0; i < mine.size(); ++i)
    worst = std::fmax(worst, std::fabs(mine[i] - serial[std::size_t(first) * width + i]));
  bool stopped_rightly = outcome.steps == options.steps || change < options.tolerance * (1 + 1e-9);
  bool right =
      worst <= 1e-12 && std::fabs(outcome.change - change) <= 1e-9 * change && stopped_rightly;
  if (!right)
    std::fprintf(stderr, "rows from %d: differ by up to %g; change %.12g, serially %.12g\n", first,
                 worst, outcome.change, change);
  return right;
}

struct Result {
  Outcome outcome;
  double seconds;
  bool right; ///< on every rank; true where nothing was to be checked
};

/// Solves it in one kernel, from the start.
static Result solve(const Part &part, int first, const Options &options) {
  std::vector<double> mine = start(first, part.rows, part.width);
  std::size_t bytes = mine.size() * sizeof(double);
  double *u, *v, *sum_by_block;
  Outcome *result;
  CUDA_CHECK(cudaMalloc(&u, bytes));
  CUDA_CHECK(cudaMalloc(&v, bytes));
  CUDA_CHECK(cudaMalloc(&sum_by_block, options.blocks * sizeof(double)));
  CUDA_CHECK(cudaMalloc(&result, sizeof(Outcome)));
  CUDA_CHECK(cudaMemcpy(u, mine.data(), bytes, cudaMemcpyHostToDevice));
  CUDA_CHECK(cudaMemcpy(v, mine.data(), bytes, cudaMemcpyHostToDevice));

  MPI_Barrier(MPI_COMM_WORLD);
  double begun = MPI_Wtime();
  jacobi<<<options.blocks, options.threads>>>(u, v, part, options.steps, options.tolerance,
                                              sum_by_block, result);
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaDeviceSynchronize());
  double seconds = MPI_Wtime() - begun;

  Outcome outcome;
  CUDA_CHECK(cudaMemcpy(&outcome, result, sizeof(Outcome), cudaMemcpyDeviceToHost));
  CUDA_CHECK(cudaMemcpy(mine.data(), outcome.steps % 2 ? v : u, bytes, cudaMemcpyDeviceToHost));
  for (void *memory : {static_cast<void *>(u), static_cast<void *>(v),
                       static_cast<void *>(sum_by_block), static_cast<void *>(result)})
    CUDA_CHECK(cudaFree(memory));

  int right = !options.check || is_right(mine, first, part.width, outcome, options);
  int all_right = 0;
  MPI_Allreduce(&right, &all_right, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
  return {outcome, seconds, all_right != 0};
}

static const char *verdict(const Result &result, const Options &options) {
  return !options.check ? "not checked"
         : result.right ? "as the serial solution"
                        : "NOT as the serial solution";
}

constexpr int calls_a_step = 3;

/// Microseconds that one MPI call of a step takes between the hosts, with nothing computed.
static double host_call(const Part &part, int steps) {
  std::vector<double> rows(4 * std::size_t(part.width), 0.0);
  double *row = rows.data(), change = 0;
  int width = part.width;
  MPI_Barrier(MPI_COMM_WORLD);
  double begun = MPI_Wtime();
  for (int step = 0; step < steps; ++step) {
    MPI_Sendrecv(row, width, MPI_DOUBLE, part.above, 0, row + width, width, MPI_DOUBLE, part.below,
                 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(row + 2 * width, width, MPI_DOUBLE, part.below, 1, row + 3 * width, width,
                 MPI_DOUBLE, part.above, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Allreduce(MPI_IN_PLACE, &change, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  return 1e6 * (MPI_Wtime() - begun) / steps / calls_a_step;
}

/// The lowerings one after the other, from the same start; false where a result is wrong.
static bool compare_lowerings(const Part &part, int first, int rank, const Options &options) {
  double host = host_call(part, options.steps);
  if (rank == 0)
    std::printf("%-8s %8s %12s %12s %14s %16s %20s   %s\n", "lowering", "steps", "change",
                "us a step", "us a call", "beyond host MPI", "launch+synchronise", "verified");
  bool right = true;
  for (const char *lowering : {"queue", "split"}) {
    gmpi::prefer_lowering(lowering);
    Options few = options;
    few.steps = 2;
    solve(part, first, few); // warm-up
    Result result = solve(part, first, options);
    right = right && result.right;
    double step = 1e6 * result.seconds / result.outcome.steps, call = step / calls_a_step;
    double limit = compare::launch_and_synchronise();
    if (rank == 0)
      std::printf("%-8s %8d %12.3e %12.2f %14.2f %16.2f %20.2f   %s\n", lowering,
                  result.outcome.steps, result.outcome.change, step, call, call - host, limit,
                  verdict(result, options));
  }
  if (rank == 0)
    std::printf(
        "A call includes a third of a step's computation; made by the hosts it takes %.2f us.\n",
        host);
  return right;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  Options options = parse(argc, argv, ranks);

  int first = rank * options.size / ranks; // the row above this rank's own
  int own = (rank + 1) * options.size / ranks - first;
  Part part{options.size + 2, own + 2, rank == 0 ? MPI_PROC_NULL : rank - 1,
            rank == ranks - 1 ? MPI_PROC_NULL : rank + 1};

  bool right = true;
  if (options.compare) {
    if (rank == 0)
      std::printf("%d x %d points on %d ranks, %d blocks of %d threads:\n", options.size,
                  options.size, ranks, options.blocks, options.threads);
    right = compare_lowerings(part, first, rank, options);
  } else {
    Result result = solve(part, first, options);
    right = result.right;
    if (rank == 0)
      std::printf("%d x %d points on %d ranks: %d steps, change %.3e, %.2f us a step; %s\n",
                  options.size, options.size, ranks, result.outcome.steps, result.outcome.change,
                  1e6 * result.seconds / result.outcome.steps, verdict(result, options));
  }
  MPI_Finalize();
  return right ? 0 : 1;
}
