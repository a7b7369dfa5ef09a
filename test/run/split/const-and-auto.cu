// Variables declared const, constexpr and auto, of every initialisation's form, live across calls.
// RUN: %gmpicxx %all-lowerings %s -o %t
// RUN: %each-lowering %ranks 1-3 %t
#include "../Inputs/shape.h"

struct Pair {
  int first, second;
};
enum class Colour : unsigned char { red = 3, green };
using Number = long;

__global__ void declared(double *out, const int rank, const int *const given) {
  const int thread = blockIdx.x * blockDim.x + threadIdx.x;
  const auto twice = 2 * thread;
  auto half = 0.5 * thread;
  constexpr int ten = 10;
  static constexpr int eleven = 11;
  const int braces{thread + 1}, parentheses(thread + 2);
  auto pair = Pair{thread, 5};
  const Pair constant{6, thread};
  auto *pointer = given + thread % 2;
  const auto *const fixed = given;
  Colour colour = thread % 2 ? Colour::green : Colour::red;
  Number number = 7 + thread;
  decltype(half) other = half + 1;
  int several = 1, *both = &several, list[2] = {thread, 2};
  volatile int seen = thread;
  int zero{}, assigned;
  auto mine = rank, sum = 0;
  MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  assigned = sum;
  const int after = sum + thread;
  *both += 3;
  MPI_Barrier(MPI_COMM_WORLD);
  half += number;
  pair.second += zero;
  MPI_Barrier(MPI_COMM_WORLD);
  out[thread] = twice + half + ten + eleven + braces + parentheses + pair.first + pair.second + constant.first +
                constant.second + *pointer + fixed[1] + int(colour) + number + other + several + list[0] +
                list[1] + seen + zero + assigned + after;
}

static double serial(int thread) {
  int sum = test::size * (test::size - 1) / 2, t = thread;
  return 2 * t + (0.5 * t + 7 + t) + 10 + 11 + (t + 1) + (t + 2) + t + 5 + 6 + t + (t % 2 ? 200 : 100) + 200 +
         (t % 2 ? 4 : 3) + (7 + t) + (0.5 * t + 1) + 4 + t + 2 + t + sum + sum + t;
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  test::Array<int> given(2);
  given.write({100, 200});
  test::check_shape<double>(
      "const-and-auto",
      [&](double *out, int blocks, int threads) {
        declared<<<blocks, threads>>>(out, test::rank, given.data());
      },
      serial);
  return test::end();
}
