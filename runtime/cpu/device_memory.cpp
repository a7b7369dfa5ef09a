#include "device_memory.hpp"

#include "block_scheduler.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>

namespace gmpi::cpu {
namespace {

constexpr std::size_t alignment = 256;     // of every allocation, as CUDA's
constexpr std::size_t guard = 1024 * 1024; // before and behind; address space only
constexpr std::size_t freed_kept_most = 256;
constexpr unsigned char untouched = 0x5c; // between an allocation's end and its guard zone

std::size_t round_up(std::size_t n, std::size_t to) { return (n + to - 1) / to * to; }

const char *name(MemoryKind kind) {
  switch (kind) {
  case MemoryKind::device:
    return "cudaMalloc";
  case MemoryKind::managed:
    return "cudaMallocManaged";
  case MemoryKind::pinned:
    return "cudaHostAlloc";
  case MemoryKind::registered:
    return "cudaHostRegister";
  case MemoryKind::symbol:
    return "a variable's declaration";
  }
  return "";
}

} // namespace

// Never destroyed: kernels may run until the process ends.
DeviceMemory &device_memory() {
  static DeviceMemory *memory = new DeviceMemory;
  return *memory;
}

std::size_t device_memory_total() {
  static const std::size_t total = static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) *
                                   static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return total;
}

// Pages that can be read and written; they are 0.
bool DeviceMemory::map_pages(char *at, std::size_t bytes, MemoryKind kind, off_t &offset) {
  if (kind == MemoryKind::device && file_ < 0)
    file_ = memfd_create("gmpi-device-memory", MFD_CLOEXEC);
  if (kind != MemoryKind::device || file_ < 0)
    return mprotect(at, bytes, PROT_READ | PROT_WRITE) == 0;
  offset = file_bytes_;
  const auto size = static_cast<off_t>(bytes);
  if (ftruncate(file_, file_bytes_ + size) != 0 ||
      mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file_, offset) == MAP_FAILED)
    return false;
  file_bytes_ += size;
  return true;
}

void *DeviceMemory::allocate(std::size_t bytes, MemoryKind kind) {
  const std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t padded = round_up(std::max<std::size_t>(bytes, 1), alignment);
  const std::size_t pages = round_up(padded, page);
  std::lock_guard lock(mutex_);
  if (bytes > device_memory_total() || allocated_ + bytes > device_memory_total())
    return nullptr;
  const std::size_t mapped_bytes = guard + pages + guard;
  void *mapped =
      mmap(nullptr, mapped_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED)
    return nullptr;
  char *data = static_cast<char *>(mapped) + guard;
  off_t offset = -1;
  if (!map_pages(data, pages, kind, offset)) {
    munmap(mapped, mapped_bytes);
    return nullptr;
  }
  char *begin = data + pages - padded;
  std::memset(begin + bytes, untouched, padded - bytes);
  Allocation allocation{kind,         bytes,  reinterpret_cast<std::uintptr_t>(mapped),
                        mapped_bytes, offset, ++allocated_count_};
  allocations_[reinterpret_cast<std::uintptr_t>(begin)] = allocation;
  allocated_ += bytes;
  return begin;
}

bool DeviceMemory::free(void *pointer, bool host) {
  std::lock_guard lock(mutex_);
  auto it = allocations_.find(reinterpret_cast<std::uintptr_t>(pointer));
  if (it == allocations_.end() || it->second.freed)
    return false;
  Allocation &a = it->second;
  if (a.kind == MemoryKind::registered || a.kind == MemoryKind::symbol ||
      (a.kind == MemoryKind::pinned) != host)
    return false;
  check(it->first, a);
  a.freed = true;
  a.freed_as = ++freed_count_;
  allocated_ -= a.bytes;
  // Fresh pages of no access over the old ones: the memory goes back to the system.
  mmap(reinterpret_cast<void *>(a.mapped), a.mapped_bytes, PROT_NONE,
       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  if (a.offset >= 0)
    fallocate(file_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, a.offset,
              static_cast<off_t>(a.mapped_bytes - 2 * guard));
  if (++freed_kept_ > freed_kept_most)
    forget_oldest_freed();
  return true;
}

void DeviceMemory::forget_oldest_freed() {
  auto oldest = allocations_.end();
  for (auto it = allocations_.begin(); it != allocations_.end(); ++it)
    if (it->second.freed &&
        (oldest == allocations_.end() || it->second.freed_as < oldest->second.freed_as))
      oldest = it;
  munmap(reinterpret_cast<void *>(oldest->second.mapped), oldest->second.mapped_bytes);
  allocations_.erase(oldest);
  --freed_kept_;
}

void DeviceMemory::add(const void *pointer, std::size_t bytes, MemoryKind kind) {
  std::lock_guard lock(mutex_);
  allocations_[reinterpret_cast<std::uintptr_t>(pointer)] = {kind, bytes};
}

bool DeviceMemory::remove_registered(const void *pointer) {
  std::lock_guard lock(mutex_);
  auto it = allocations_.find(reinterpret_cast<std::uintptr_t>(pointer));
  if (it == allocations_.end() || it->second.kind != MemoryKind::registered)
    return false;
  allocations_.erase(it);
  return true;
}

DeviceMemory::Allocations::iterator DeviceMemory::holder(std::uintptr_t address) {
  auto it = allocations_.upper_bound(address);
  if (it == allocations_.begin())
    return allocations_.end();
  --it;
  return address - it->first < std::max<std::size_t>(it->second.bytes, 1) ? it : allocations_.end();
}

bool DeviceMemory::find(const void *pointer, Found &found) {
  std::lock_guard lock(mutex_);
  auto it = holder(reinterpret_cast<std::uintptr_t>(pointer));
  if (it == allocations_.end() || it->second.freed)
    return false;
  const Allocation &a = it->second;
  const std::uintptr_t first_page = a.mapped + guard;
  found = {a.kind, it->first, a.bytes, a.id, -1};
  if (a.offset >= 0)
    found.offset = a.offset + static_cast<off_t>(it->first - first_page);
  return true;
}

bool DeviceMemory::has_freed(const void *pointer) {
  std::lock_guard lock(mutex_);
  auto it = holder(reinterpret_cast<std::uintptr_t>(pointer));
  return it != allocations_.end() && it->second.freed;
}

bool DeviceMemory::describe(const void *pointer, char *text, std::size_t room) {
  // The fault may have come from within this class: never wait for ever.
  std::unique_lock lock(mutex_, std::chrono::milliseconds(200));
  if (!lock.owns_lock())
    return false;
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  for (const auto &[begin, a] : allocations_) {
    if (!a.mapped_bytes || address < a.mapped || address >= a.mapped + a.mapped_bytes)
      continue;
    const std::uintptr_t end = begin + a.bytes;
    const char *state = a.freed ? " and freed since" : "";
    const char *allocator = name(a.kind);
    if (address < begin)
      std::snprintf(text, room, "%zu bytes before the %zu bytes allocated by %s%s", begin - address,
                    a.bytes, allocator, state);
    else if (address >= end)
      std::snprintf(text, room, "%zu bytes past the end of the %zu bytes allocated by %s%s",
                    address - end, a.bytes, allocator, state);
    else
      std::snprintf(text, room, "byte %zu of the %zu bytes allocated by %s%s", address - begin,
                    a.bytes, allocator, state);
    return true;
  }
  return false;
}

void DeviceMemory::check(std::uintptr_t begin, const Allocation &a) {
  if (!a.mapped_bytes || a.freed)
    return;
  const auto *end = reinterpret_cast<const unsigned char *>(begin) + a.bytes;
  const auto *guard_begin =
      reinterpret_cast<const unsigned char *>(a.mapped + a.mapped_bytes - guard);
  const auto *written =
      std::find_if(end, guard_begin, [](unsigned char byte) { return byte != untouched; });
  if (written != guard_begin)
    fail(
        "something wrote %td bytes past the end of the %zu bytes allocated by %s at %p (the kernel "
        "that ended last is '%s')",
        written - end, a.bytes, name(a.kind), reinterpret_cast<const void *>(begin),
        BlockScheduler::get().last_ended());
}

void DeviceMemory::check_all() {
  std::lock_guard lock(mutex_);
  for (const auto &[begin, a] : allocations_)
    check(begin, a);
}

std::size_t DeviceMemory::allocated() {
  std::lock_guard lock(mutex_);
  return allocated_;
}

} // namespace gmpi::cpu
