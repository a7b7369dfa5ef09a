// See with_nvshmem.h.
#include "../with_nvshmem.h"

#include "../../common/sample.h"
#include "../device_clock.h"

#include <nvshmem.h>
#include <nvshmemx.h>

#include <cstring>
#include <vector>

namespace {

struct Exchange {
  unsigned char *buffer;
  std::uint64_t *signal;
  std::uint64_t before; ///< the signal's value when the kernel starts
  std::size_t bytes;
  int other, rounds;
  bool first, touch;
  double compute;
};

__device__ void wait(std::uint64_t *signal, std::uint64_t value) {
  if (threadIdx.x == 0)
    nvshmem_signal_wait_until(signal, NVSHMEM_CMP_GE, value);
  __syncthreads();
}

__global__ void exchange(Exchange e) {
  for (int i = 0; i < 2 * e.rounds; ++i) {
    std::uint64_t number = e.before + i / 2 + 1;
    if (e.first == (i % 2 == 0)) {
      for (std::size_t k = threadIdx.x; e.touch && k < e.bytes; k += blockDim.x)
        e.buffer[k] += 1;
      bench::compute(e.compute);
      __syncthreads();
      nvshmemx_putmem_signal_block(e.buffer, e.buffer, e.bytes, e.signal, number,
                                   NVSHMEM_SIGNAL_SET, e.other);
    } else {
      wait(e.signal, number);
    }
  }
}

struct Windows {
  unsigned char *buffer;
  std::uint64_t *signal;
  std::uint64_t before; ///< the signal's value when the kernel starts
  std::size_t bytes;
  int other, window, rounds;
};

/// Signals add up: the window's puts may arrive in any order.
__global__ void send_windows(Windows w) {
  for (int i = 0; i < w.rounds; ++i) {
    for (int k = 0; k < w.window; ++k) {
      unsigned char *message = w.buffer + k * w.bytes;
      nvshmemx_putmem_signal_nbi_block(message, message, w.bytes, w.signal, 1, NVSHMEM_SIGNAL_ADD,
                                       w.other);
    }
    wait(w.signal, w.before + i + 1);
  }
}

__global__ void receive_windows(Windows w) {
  for (int i = 0; i < w.rounds; ++i) {
    wait(w.signal, w.before + std::uint64_t(i + 1) * w.window);
    if (threadIdx.x == 0)
      nvshmemx_signal_op(w.signal, 1, NVSHMEM_SIGNAL_ADD, w.other);
  }
}

/// Whether every rank has a GPU of its own: on a shared one, a kernel that waits may keep the one
/// that it waits for from running.
bool have_gpus_of_their_own(int ranks) {
  int device;
  cudaDeviceProp properties;
  CUDA_CHECK(cudaGetDevice(&device));
  CUDA_CHECK(cudaGetDeviceProperties(&properties, device));
  std::vector<cudaUUID_t> all(ranks);
  MPI_Allgather(&properties.uuid, sizeof(cudaUUID_t), MPI_BYTE, all.data(), sizeof(cudaUUID_t),
                MPI_BYTE, MPI_COMM_WORLD);
  for (int i = 0; i < ranks; ++i)
    for (int k = 0; k < i; ++k)
      if (!std::memcmp(&all[i], &all[k], sizeof(cudaUUID_t)))
        return false;
  return true;
}

bool is_so_everywhere(bool here) {
  int mine = here, all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
  return all != 0;
}

/// Initialises NVSHMEM for MPI_COMM_WORLD, without NVSHMEM's own support of an MPI library.
bool start(int rank, int ranks) {
  nvshmemx_uniqueid_t id = NVSHMEMX_UNIQUEID_INITIALIZER;
  if (!is_so_everywhere(rank != 0 || nvshmemx_get_uniqueid(&id) == 0))
    return false;
  MPI_Bcast(&id, sizeof id, MPI_BYTE, 0, MPI_COMM_WORLD);
  nvshmemx_init_attr_t attributes = NVSHMEMX_INIT_ATTR_INITIALIZER;
  nvshmemx_set_attr_uniqueid_args(rank, ranks, &id, &attributes);
  return is_so_everywhere(nvshmemx_init_attr(NVSHMEMX_INIT_WITH_UNIQUEID, &attributes) == 0);
}

} // namespace

namespace nvshmem {

Peer::Peer(std::size_t bytes) {
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  other_ = 1 - rank;
  if (!have_gpus_of_their_own(ranks)) {
    why_not_ = "NVSHMEM: ranks share a GPU.";
    return;
  }
  started_ = start(rank, ranks);
  if (!started_) {
    why_not_ = "NVSHMEM: it could not be initialised.";
    return;
  }
  buffer_ = static_cast<unsigned char *>(nvshmem_malloc(bytes));
  signals_ = static_cast<std::uint64_t *>(nvshmem_calloc(2, sizeof(std::uint64_t)));
  if (!is_so_everywhere(buffer_ != nullptr && signals_ != nullptr))
    why_not_ = "NVSHMEM: too little symmetric memory (NVSHMEM_SYMMETRIC_SIZE).";
}

Peer::~Peer() {
  if (!started_)
    return;
  nvshmem_free(signals_);
  nvshmem_free(buffer_);
  nvshmem_finalize();
}

void Peer::pingpong(std::size_t bytes, bool first, bool touch, double compute, int rounds,
                    int threads, cudaStream_t stream) {
  exchange<<<1, threads, 0, stream>>>(
      {buffer_, signals_, passed_, bytes, other_, rounds, first, touch, compute});
  passed_ += rounds;
}

void Peer::windows(std::size_t bytes, int window, bool sends, int rounds, int threads,
                   cudaStream_t stream) {
  Windows w = {buffer_, signals_ + 1, arrived_, bytes, other_, window, rounds};
  if (sends)
    send_windows<<<1, threads, 0, stream>>>(w);
  else
    receive_windows<<<1, threads, 0, stream>>>(w);
  arrived_ += sends ? rounds : rounds * std::uint64_t(window);
}

} // namespace nvshmem
