#include "shared_memory.hpp"

#include "settings.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <new>

namespace gmpi::cpu {
namespace {

constexpr std::size_t gap = 64;
constexpr unsigned char untouched = 0x5c;     // in gaps
constexpr unsigned char uninitialised = 0xa5; // in variables
// Room for the variables, and for gaps and alignment between a generous number of them.
constexpr std::size_t room = 512 * 1024, guard = 64 * 1024;

} // namespace

SharedMemory::SharedMemory() {
  void *mapped = mmap(nullptr, guard + room + guard, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED)
    throw std::bad_alloc();
  base_ = static_cast<char *>(mapped) + guard;
  mprotect(base_, room, PROT_READ | PROT_WRITE);
}

SharedMemory::~SharedMemory() { munmap(base_ - guard, guard + room + guard); }

void SharedMemory::begin_block(std::size_t dynamic_bytes) {
  variables_.clear();
  used_ = variable_bytes_ = 0;
  add({}, nullptr, dynamic_bytes, 1024);
}

void *SharedMemory::variable(SharedSite site, const void *type, std::size_t bytes,
                             std::size_t alignment) {
  for (const Variable &v : variables_)
    if (v.type == type && v.site.line == site.line && v.site.column == site.column &&
        v.site.file == site.file)
      return base_ + v.offset;
  return base_ + add(site, type, bytes, alignment);
}

std::size_t SharedMemory::add(SharedSite site, const void *type, std::size_t bytes,
                              std::size_t alignment) {
  const std::size_t offset = (used_ + alignment - 1) / alignment * alignment;
  variable_bytes_ += bytes;
  if (variable_bytes_ > shared_per_block_limit || offset + bytes + gap > room)
    fail("the block's shared variables take %zu bytes; a multiprocessor gives a block %zu",
         variable_bytes_, shared_per_block_limit);
  std::memset(base_ + offset, uninitialised, bytes);
  std::memset(base_ + offset + bytes, untouched, gap);
  used_ = offset + bytes + gap;
  variables_.push_back({site, type, offset, bytes});
  return offset;
}

void SharedMemory::check() const {
  for (const Variable &v : variables_) {
    const auto *begin = reinterpret_cast<unsigned char *>(base_) + v.offset + v.bytes;
    const auto *written =
        std::find_if(begin, begin + gap, [](unsigned char b) { return b != untouched; });
    if (written == begin + gap)
      continue;
    if (v.type)
      fail("a thread wrote past the end of the __shared__ variable of %zu bytes declared in line "
           "%u, "
           "%td bytes behind it",
           v.bytes, v.site.line, written - begin);
    fail("a thread wrote past the end of the %zu bytes of dynamic shared memory, %td bytes behind "
         "them",
         v.bytes, written - begin);
  }
}

} // namespace gmpi::cpu
