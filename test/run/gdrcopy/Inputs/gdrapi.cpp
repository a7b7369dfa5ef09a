// A libgdrapi.so.2 for the cpu device, whose memory is shared: gdr_map maps it a second time, and forbids stores
// by way of its first address, so that a program breaks which writes it in any other way than through the mapping.
// (ThreadSanitizer would take the two for different memory: it gets the first address.) When it is unmapped, the
// library tells how many words are not 0. What the caller does wrong it says, with the word WRONG.
//
// FAKE_GDRAPI, or what set_fake_gdrapi() says: what fails, `open`, `pin`, `info` or `map`; `elsewhere`: info names
// another address; `other`: the mapping is of other memory.
#include <sys/mman.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

constexpr std::size_t gpu_page = 65536;

struct Connection {
  bool open = false;
  std::uint64_t *memory = nullptr; ///< pinned
  std::uint64_t *mapped = nullptr;
  std::size_t bytes = 0;
};
Connection connection;

std::string &fault() {
  static std::string &fault =
      *new std::string(std::getenv("FAKE_GDRAPI") != nullptr ? std::getenv("FAKE_GDRAPI") : "");
  return fault;
}

/// Complains, unless it holds.
void must(bool holds, const char *what) {
  if (!holds)
    std::fprintf(stderr, "gdrapi: WRONG: %s\n", what);
}

void *second_mapping(std::uint64_t *memory, std::size_t bytes) {
#ifdef __SANITIZE_THREAD__
  (void)bytes;
  return memory;
#else
  void *mapped = mremap(memory, 0, bytes, MREMAP_MAYMOVE);
  if (mapped != MAP_FAILED)
    must(mprotect(memory, bytes, PROT_READ) == 0, "the memory cannot be protected");
  return mapped;
#endif
}

[[gnu::destructor]] void at_exit() { must(!connection.open, "a connection was left open"); }

} // namespace

struct Pinned {
  unsigned long handle;
};
struct Info {
  std::uint64_t va, mapped_size;
  std::uint32_t page_size;
  std::uint64_t tm_cycles;
  std::uint32_t cycles_per_ms;
  unsigned mapped : 1, wc_mapping : 1;
  int mapping_type;
};

extern "C" {

void set_fake_gdrapi(const char *what) { fault() = what; }

void *gdr_open() {
  must(!connection.open, "two connections");
  if (fault() == "open")
    return nullptr;
  connection.open = true;
  return &connection;
}

int gdr_close(void *given) {
  must(given == &connection && connection.open, "close without open");
  must(connection.memory == nullptr, "closed while memory is pinned");
  connection = {};
  return 0;
}

int gdr_pin_buffer(void *given, unsigned long address, std::size_t bytes, std::uint64_t token,
                   std::uint32_t space, Pinned *pinned) {
  must(given == &connection && connection.open, "pin without open");
  must(connection.memory == nullptr, "pinned twice");
  must(address % gpu_page == 0 && bytes % gpu_page == 0 && bytes != 0, "not whole pages");
  must(token == 0 && space == 0, "a token");
  if (fault() == "pin")
    return EINVAL;
  connection.memory = reinterpret_cast<std::uint64_t *>(address);
  connection.bytes = bytes;
  pinned->handle = address + 1;
  return 0;
}

int gdr_unpin_buffer(void *, Pinned pinned) {
  must(pinned.handle == reinterpret_cast<unsigned long>(connection.memory) + 1, "unpinned what was not pinned");
  must(connection.mapped == nullptr, "unpinned while it is mapped");
  connection.memory = nullptr;
  return 0;
}

int gdr_get_info_v2(void *, Pinned pinned, Info *info) {
  must(pinned.handle == reinterpret_cast<unsigned long>(connection.memory) + 1, "info of what was not pinned");
  if (fault() == "info")
    return EBADF;
  *info = {pinned.handle - 1, connection.bytes, gpu_page, 0, 0, 0, 0, 0};
  if (fault() == "elsewhere")
    info->va -= gpu_page;
  return 0;
}

#ifndef LACKS_MAP
int gdr_map(void *, Pinned pinned, void **address, std::size_t bytes) {
  must(pinned.handle == reinterpret_cast<unsigned long>(connection.memory) + 1, "mapped what was not pinned");
  must(bytes == connection.bytes, "mapped less than was pinned");
  if (fault() == "map")
    return ENOMEM;
  void *mapped = fault() == "other" ? mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                                    : second_mapping(connection.memory, bytes);
  if (mapped == MAP_FAILED)
    return errno;
  *address = connection.mapped = static_cast<std::uint64_t *>(mapped);
  return 0;
}
#endif

int gdr_unmap(void *, Pinned, void *address, std::size_t bytes) {
  must(address == connection.mapped && bytes == connection.bytes, "unmapped what was not mapped");
  if (fault() != "other") {
    std::size_t used = 0;
    for (std::size_t i = 0; i < bytes / sizeof(std::uint64_t); ++i)
      used += connection.mapped[i] != 0;
    must(mprotect(connection.memory, bytes, PROT_READ | PROT_WRITE) == 0 &&
             std::memcmp(connection.mapped, connection.memory, bytes) == 0 && ++*connection.mapped == *connection.memory,
         "the memory was freed while it was mapped");
    std::fprintf(stderr, "gdrapi: %s were written through the mapping\n", used == 0 ? "no words" : "words");
  }
  if (connection.mapped != connection.memory)
    munmap(connection.mapped, bytes);
  connection.mapped = nullptr;
  return 0;
}
}
