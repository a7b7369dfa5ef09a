// Types of 1 to 16 bytes and more, side by side, live across calls: none of them touches another's bytes.
// RUN: %gmpicxx %all-lowerings %s -o %t
// RUN: %each-lowering %ranks 1-3 %t
#include "../Inputs/shape.h"

#include <cstdint>

enum class Wide : std::uint64_t { large = 1ull << 63 };
struct Odd {
  char bytes[13];
};
struct Empty {};

__global__ void types(double *out, std::uint64_t big, std::int8_t tiny, bool yes, Odd odd, int rank) {
  int thread = blockIdx.x * blockDim.x + threadIdx.x;
  std::uint64_t bits = big << 32 | thread;
  std::int8_t a = tiny, b = -1;
  std::uint16_t c = 65535 - thread;
  bool no = !yes, parity = thread & 1;
  std::size_t size = sizeof(bits) + thread;
  Wide wide = Wide::large;
  Odd mine = odd;
  Empty empty;
  double *where = out + thread;
  wchar_t letter = L'x';
  mine.bytes[thread % 13] = 100;
  for (int step = 0; step < 3; ++step) {
    MPI_Barrier(MPI_COMM_WORLD);
    bits += 1ull << 40;
    a += 1;
    b -= 1;
    c += 1;
    no = !no;
    parity ^= yes;
    size *= 2;
    wide = Wide(std::uint64_t(wide) + 1);
    odd.bytes[step] += 1;
    letter += 1;
  }
  (void)empty;
  int sum = 0;
  for (int i = 0; i < 13; ++i)
    sum += mine.bytes[i] + 2 * odd.bytes[i];
  *where = double(bits >> 32) + double(bits & 0xffffffff) + a + b + c + no + parity + double(size) +
           double(std::uint64_t(wide) & 0xffff) + double(std::uint64_t(wide) >> 63) + sum + letter;
}

static double serial(int t) {
  int filled = 12 * 13 / 2, replaced = t % 13;
  return (5 + 3 * 256) + t + (-7 + 3) - 4 + (65535 - t + 3) % 65536 + 1 + (t % 2 == 0) + 8.0 * (8 + t) + 3 + 1 +
         (filled - replaced + 100) + 2 * (filled + 3) + ('x' + 3);
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  Odd odd;
  for (int i = 0; i < 13; ++i)
    odd.bytes[i] = char(i);
  test::check_shape<double>(
      "wide-types",
      [&](double *out, int blocks, int threads) {
        types<<<blocks, threads>>>(out, 5, -7, true, odd, test::rank);
      },
      serial);
  return test::end();
}
