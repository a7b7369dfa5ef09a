// All memory that CUDA's API gave out or was told of: where it lies, what it is, and whether it was
// freed. Allocations end at an untouchable zone and begin behind one; freed ones stay untouchable
// for a while, so that a late access is caught and can be named.
//
// Memory of cudaMalloc's lies in a file without a name, so that other processes can map it.
#pragma once

#include "gmpi/cpu/types.hpp"

#include <cstdint>
#include <map>
#include <mutex>
#include <sys/types.h>

namespace gmpi::cpu {

enum class MemoryKind { device, managed, pinned, registered, symbol };

class DeviceMemory {
public:
  void *allocate(std::size_t bytes, MemoryKind kind); // null: not enough
  // False where `pointer` is not the begin of such an allocation.
  bool free(void *pointer, bool host);
  void add(const void *pointer, std::size_t bytes, MemoryKind kind);
  bool remove_registered(const void *pointer);

  struct Found {
    MemoryKind kind;
    std::uintptr_t begin;
    std::size_t bytes;
    unsigned long long id; // never another's
    off_t offset;          // in file(), of memory of cudaMalloc's; -1: it is not there
  };
  // -1: none could be had.
  int file() const { return file_; }
  // What holds this address; freed memory does not count.
  bool find(const void *pointer, Found &found);
  // Whether the last allocation that held this address was freed, not long ago.
  bool has_freed(const void *pointer);
  // For reports, also from a signal handler: names the allocation at or near the address.
  bool describe(const void *address, char *text, std::size_t room);
  // Fails if bytes between an allocation's end and its guard zone were written.
  void check_all();
  std::size_t allocated();

private:
  bool map_pages(char *at, std::size_t bytes, MemoryKind kind, off_t &offset);

  struct Allocation {
    MemoryKind kind;
    std::size_t bytes;
    std::uintptr_t mapped = 0; // with guard zones
    std::size_t mapped_bytes = 0;
    off_t offset = -1; // in the file, of its first page; -1: it is not there
    unsigned long long id = 0;
    bool freed = false;
    unsigned long long freed_as = 0; // the how manieth
  };
  using Allocations = std::map<std::uintptr_t, Allocation>;

  Allocations::iterator holder(std::uintptr_t address);
  static void check(std::uintptr_t begin, const Allocation &allocation);
  void forget_oldest_freed();

  std::timed_mutex mutex_;
  Allocations allocations_; // by begin
  std::size_t allocated_ = 0, freed_kept_ = 0;
  unsigned long long allocated_count_ = 0, freed_count_ = 0;
  int file_ = -1;
  off_t file_bytes_ = 0;
};

DeviceMemory &device_memory();
std::size_t device_memory_total();

} // namespace gmpi::cpu
