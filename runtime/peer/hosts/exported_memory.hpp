// Device memory that other processes of this host can map: with CUDA IPC or, on the cpu device, as
// a part of a file without a name. The runtime's own, and the program's allocations.
#pragma once

#include <cstddef>
#include <cstdint>

#include <cuda_runtime.h>

namespace gmpi::peer {

/// What another process needs, as plain bytes.
struct ExportHandle {
  char bytes[64];
};

/// Zeroed memory of the current device; null where it cannot be had or exported. The caller's,
/// until free_exported(). On a GPU it is device memory: kernels and copies only.
void *allocate_exported(std::size_t bytes, ExportHandle &handle);
void free_exported(void *memory, std::size_t bytes);

/// Another process's memory; null where this process cannot reach it. Until unmap_exported().
void *map_exported(const ExportHandle &handle, std::size_t bytes);
void unmap_exported(void *memory, std::size_t bytes);

/// One of the program's allocations.
struct Allocation {
  std::uint64_t begin, bytes;
  std::uint64_t id; ///< never another's, whatever is allocated there later
};

/// The allocation that holds `address`; false where none is known, or it is not memory of `device`.
bool find_allocation(std::uint64_t address, int device, Allocation &found);
/// Of an address that kernels have used: whether what was there has been freed. (On a GPU: CUDA knows
/// of nothing there.)
bool has_been_freed(std::uint64_t address);
/// Whether it has not been freed.
bool still_allocated(const Allocation &allocation);
/// False where it is of a kind that other processes cannot map.
bool export_allocation(const Allocation &allocation, ExportHandle &handle);

/// Words of exported memory, this process's own or mapped, while kernels may read or write them: as
/// whole words, in their order; waits until they are there. False where CUDA fails.
bool store_words(void *to, const std::uint64_t *words, std::size_t count, cudaStream_t stream);
bool load_words(const void *from, std::uint64_t *words, std::size_t count, cudaStream_t stream);

} // namespace gmpi::peer
