// The cpu device's memory is the host's: a file without a name, which other processes of the same
// user open through /proc.
#include "exported_memory.hpp"

#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <map>
#include <mutex>
#include <sys/mman.h>
#include <unistd.h>

namespace gmpi::peer {

namespace {

std::mutex mutex;
std::map<void *, int> files; ///< open while others may still map them

void *map(int file, std::size_t bytes) {
  void *memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

} // namespace

void *allocate_exported(std::size_t bytes, ExportHandle &handle) {
  int file = memfd_create("gmpi-peer", MFD_CLOEXEC);
  if (file < 0)
    return nullptr;
  void *memory = ftruncate(file, static_cast<off_t>(bytes)) == 0 ? map(file, bytes) : nullptr;
  if (memory == nullptr) {
    close(file);
    return nullptr;
  }
  std::snprintf(handle.bytes, sizeof(handle.bytes), "/proc/%d/fd/%d", getpid(), file);
  std::lock_guard lock(mutex);
  files[memory] = file;
  return memory;
}

void free_exported(void *memory, std::size_t bytes) {
  munmap(memory, bytes);
  std::lock_guard lock(mutex);
  close(files.at(memory));
  files.erase(memory);
}

void *map_exported(const ExportHandle &handle, std::size_t bytes) {
  int file = open(handle.bytes, O_RDWR | O_CLOEXEC);
  if (file < 0)
    return nullptr;
  void *memory = map(file, bytes);
  close(file);
  return memory;
}

void unmap_exported(void *memory, std::size_t bytes) { munmap(memory, bytes); }

} // namespace gmpi::peer
