// The cpu device's memory is the host's: a file without a name, which other processes of the same
// user open through /proc. A handle is the file's path, an end of line, and where in it the memory
// begins.
#include "exported_memory.hpp"

#include "../../cpu/device_memory.hpp"

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

/// How far behind the begin of its page.
std::size_t in_page(std::uint64_t address) {
  return address % static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

void *map(int file, std::size_t bytes, std::size_t offset) {
  const std::size_t before = in_page(offset);
  void *memory = mmap(nullptr, before + bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file,
                      static_cast<off_t>(offset - before));
  return memory == MAP_FAILED ? nullptr : static_cast<char *>(memory) + before;
}

void write_handle(int file, std::size_t offset, ExportHandle &handle) {
  std::snprintf(handle.bytes, sizeof(handle.bytes), "/proc/%d/fd/%d\n%zu", getpid(), file, offset);
}

} // namespace

void *allocate_exported(std::size_t bytes, ExportHandle &handle) {
  int file = memfd_create("gmpi-peer", MFD_CLOEXEC);
  if (file < 0)
    return nullptr;
  void *memory = ftruncate(file, static_cast<off_t>(bytes)) == 0 ? map(file, bytes, 0) : nullptr;
  if (memory == nullptr) {
    close(file);
    return nullptr;
  }
  write_handle(file, 0, handle);
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
  char path[sizeof(handle.bytes)];
  std::size_t offset = 0;
  if (std::sscanf(handle.bytes, "%63[^\n]\n%zu", path, &offset) != 2)
    return nullptr;
  int file = open(path, O_RDWR | O_CLOEXEC);
  if (file < 0)
    return nullptr;
  void *memory = map(file, bytes, offset);
  close(file);
  return memory;
}

void unmap_exported(void *memory, std::size_t bytes) {
  const std::size_t before = in_page(reinterpret_cast<std::uint64_t>(memory));
  munmap(static_cast<char *>(memory) - before, before + bytes);
}

bool find_allocation(std::uint64_t address, int, Allocation &found) {
  cpu::DeviceMemory::Found its;
  if (!cpu::device_memory().find(reinterpret_cast<void *>(address), its) ||
      its.kind != cpu::MemoryKind::device)
    return false;
  found = {its.begin, its.bytes, its.id};
  return true;
}

bool has_been_freed(std::uint64_t address) {
  return cpu::device_memory().has_freed(reinterpret_cast<void *>(address));
}

bool still_allocated(const Allocation &allocation) {
  Allocation now;
  return find_allocation(allocation.begin, 0, now) && now.id == allocation.id;
}

bool export_allocation(const Allocation &allocation, ExportHandle &handle) {
  cpu::DeviceMemory::Found its;
  const int file = cpu::device_memory().file();
  if (!cpu::device_memory().find(reinterpret_cast<void *>(allocation.begin), its) || its.offset < 0)
    return false;
  write_handle(file, static_cast<std::size_t>(its.offset), handle);
  return true;
}

bool store_words(void *to, const std::uint64_t *words, std::size_t count, cudaStream_t) {
  for (std::size_t i = 0; i < count; ++i)
    __atomic_store_n(static_cast<std::uint64_t *>(to) + i, words[i], __ATOMIC_RELEASE);
  return true;
}
bool load_words(const void *from, std::uint64_t *words, std::size_t count, cudaStream_t) {
  for (std::size_t i = 0; i < count; ++i)
    words[i] = __atomic_load_n(static_cast<const std::uint64_t *>(from) + i, __ATOMIC_ACQUIRE);
  return true;
}

} // namespace gmpi::peer
