// NCCL as a peer, where the program was built with it. Every rank calls each function, in the same
// order; streams order the operations, as NCCL has it.
#pragma once

#include "bench.h"

namespace nccl {

/// Whether there is a communicator of all ranks: NCCL wants a GPU for each.
bool available();
/// Why not; empty where it is.
std::string why_not();

void send(const void *device, std::size_t bytes, int peer, cudaStream_t stream);
void receive(void *device, std::size_t bytes, int peer, cudaStream_t stream);
void broadcast(void *device, std::size_t bytes, int root, cudaStream_t stream);
/// The sum of doubles.
void all_reduce(const double *from, double *to, std::size_t count, cudaStream_t stream);
/// So many messages of `bytes` each way at once, one behind the other in memory.
void exchange(const char *from, char *to, std::size_t bytes, int messages, int peer,
              cudaStream_t stream);
/// `count` doubles for each rank, and from each.
void all_to_all(const double *from, double *to, std::size_t count, int ranks, cudaStream_t stream);

} // namespace nccl
