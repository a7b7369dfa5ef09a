// Device memory that other processes of this host can map: with CUDA IPC or, on the cpu device, as
// a file without a name.
#pragma once

#include <cstddef>

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

} // namespace gmpi::peer
