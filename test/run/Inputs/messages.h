// What the tests of messages one behind the other share: bytes that tell whose message they are, and
// exchanges of several. All threads of a grid fill and verify, by number.
#pragma once

#include "check.h"

namespace test {

__device__ inline int number() { return blockIdx.x * blockDim.x + threadIdx.x; }
__device__ inline int numbers() { return gridDim.x * blockDim.x; }

/// Byte `i` of a rank's message number `message`.
__host__ __device__ inline unsigned char value(int rank, int turn, int message, int i) {
  return static_cast<unsigned char>(rank * 101 + turn * 37 + message * 11 + i * 7 + i / 251);
}
__device__ inline void fill(unsigned char *out, int bytes, int rank, int turn, int message = 0) {
  for (int i = number(); i < bytes; i += numbers())
    out[i] = value(rank, turn, message, i);
}
/// Counts what is wrong, and takes it away: what has come must come again.
__device__ inline void verify(unsigned char *in, int bytes, int rank, int turn, int *wrong,
                              int message = 0) {
  for (int i = number(); i < bytes; i += numbers()) {
    if (in[i] != value(rank, turn, message, i))
      atomicAdd(wrong, 1);
    in[i] = static_cast<unsigned char>(~in[i]);
  }
}

/// What a message's buffer holds before it comes, and where none of it belongs.
constexpr unsigned char nothing = 0xee;
/// Bytes of such a buffer around a message.
struct Around {
  int before, behind;
};
/// Who writes and reads them: threads of a grid, a block, or one.
struct Threads {
  int first, stride;
};
__device__ inline void fill(unsigned char *out, unsigned char *in, int bytes, Around around, int rank, int turn,
                            int message, Threads threads) {
  for (int i = threads.first; i < bytes; i += threads.stride)
    out[i] = value(rank, turn, message, i);
  for (int i = threads.first; i < around.before + bytes + around.behind; i += threads.stride)
    in[i - around.before] = nothing;
}
__device__ inline void verify(const unsigned char *in, int bytes, Around around, int rank, int turn, int message,
                              Threads threads, int *wrong) {
  for (int i = threads.first; i < around.before + bytes + around.behind; i += threads.stride) {
    const int at = i - around.before;
    if (in[at] != (at >= 0 && at < bytes ? value(rank, turn, message, at) : nothing))
      atomicAdd(wrong, 1);
  }
}

/// Messages of an exchange: their bytes, and how far from an address for 16 bytes each begins.
struct Shape {
  static constexpr int most = 20;
  static constexpr int apart = 1 << 18; ///< bytes between the beginnings of two messages
  int count, shift, bytes[most];

  __host__ __device__ int begin(int message) const { return message * apart + shift; }
};
__device__ inline void fill(unsigned char *out, const Shape &shape, int rank, int turn) {
  for (int j = 0; j < shape.count; ++j)
    fill(out + shape.begin(j), shape.bytes[j], rank, turn, j);
}
__device__ inline void verify(unsigned char *in, const Shape &shape, int rank, int turn,
                              int *wrong) {
  for (int j = 0; j < shape.count; ++j)
    verify(in + shape.begin(j), shape.bytes[j], rank, turn, wrong, j);
}

} // namespace test
