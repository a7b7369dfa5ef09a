// Data whose every byte is checked, and what experiments do with kernels in general.
#include "bench.h"

#include <cstdlib>

namespace bench {

static unsigned char pattern(std::size_t i, int seed) {
  return static_cast<unsigned char>(i * 7 + i / 251 + seed * 13);
}

void fill(unsigned char *memory, std::size_t bytes, int seed) {
  std::vector<unsigned char> host(bytes);
  for (std::size_t i = 0; i < bytes; ++i)
    host[i] = pattern(i, seed);
  write(memory, host);
}

std::size_t wrong_bytes(const unsigned char *memory, std::size_t bytes, int seed, int added) {
  std::vector<unsigned char> host = read(memory, bytes);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < bytes; ++i)
    wrong += host[i] != static_cast<unsigned char>(pattern(i, seed) + added);
  return wrong;
}

void Bench::wrong(const std::string &what) {
  std::fprintf(stderr, "gmpi-bench: rank %d: WRONG DATA: %s\n", rank, what.c_str());
  wrong_ = true;
}

void Bench::wrong(const std::string &what, std::size_t count, const std::string &things) {
  if (count != 0)
    wrong(what + ": " + std::to_string(count) + " " + things);
}

bool Bench::any_wrong() const {
  int mine = wrong_, any = 0;
  MPI_Allreduce(&mine, &any, 1, MPI_INT, MPI_LOR, MPI_COMM_WORLD);
  return any != 0;
}

void give_up(const char *sentence) {
  std::fprintf(stderr, "gmpi-bench: %s\n", sentence);
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::abort();
}

void synchronize() {
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaDeviceSynchronize());
}

static __global__ void nothing() {}

Sample launch_and_synchronise(const Bench &bench) {
  Stream stream;
  int iterations = bench.options.integer("iterations", 200);
  return bench.measure(iterations, [&] {
    for (int i = 0; i < iterations; ++i) {
      nothing<<<1, 32, 0, stream>>>();
      stream.synchronize();
    }
  });
}

} // namespace bench
