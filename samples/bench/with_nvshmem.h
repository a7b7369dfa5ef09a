// NVSHMEM as a peer, where the program was built with it: one block of a kernel puts data into the
// other rank's memory, and waits for a signal behind what comes.
//
// Such kernels are linked with NVSHMEM's device code. That makes them relocatable device code,
// which nothing else here shall be: they are a library of their own, nvshmem/peer.cu.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace nvshmem {

/// NVSHMEM between two ranks while this lives, with a buffer of symmetric memory. Each function is
/// called by both of them, in the same order; a thread of NVSHMEM's own may poll all the time.
class Peer {
public:
  /// For a buffer of so many bytes.
  explicit Peer(std::size_t bytes);
  ~Peer();
  Peer(const Peer &) = delete;
  Peer &operator=(const Peer &) = delete;

  bool available() const { return why_not_.empty(); }
  /// Why not; empty where it is.
  const std::string &why_not() const { return why_not_; }

  unsigned char *buffer() const { return buffer_; }

  /// So many bytes of the buffer there and back, `rounds` times; `touch` adds one to each before
  /// they are sent, which `compute` microseconds precede. Does not wait for the kernel.
  void pingpong(std::size_t bytes, bool first, bool touch, double compute, int rounds, int threads,
                cudaStream_t stream);
  /// `window` messages, one behind the other in the buffer, go under way at a time, and a signal
  /// comes back when all have arrived; `rounds` times. Does not wait for the kernel.
  void windows(std::size_t bytes, int window, bool sends, int rounds, int threads,
               cudaStream_t stream);

private:
  bool started_ = false;
  std::string why_not_;
  unsigned char *buffer_ = nullptr;
  std::uint64_t *signals_ = nullptr;       ///< of the symmetric memory: one for either function
  std::uint64_t passed_ = 0, arrived_ = 0; ///< what they have come to
  int other_ = 0;
};

#ifndef GMPI_BENCH_NVSHMEM
inline Peer::Peer(std::size_t) : why_not_("NVSHMEM: this program was built without it.") {}
inline Peer::~Peer() {}
inline void Peer::pingpong(std::size_t, bool, bool, double, int, int, cudaStream_t) {}
inline void Peer::windows(std::size_t, int, bool, int, int, cudaStream_t) {}
#endif

} // namespace nvshmem
