// Finds the library, and what it needs to be given. Its types and functions, as far as they are
// used here, are declared here: version 2, every release of which has them.
#include "gdrcopy.hpp"

#include "busy_device.hpp"

#include <cstring>
#include <dlfcn.h>
#include <vector>

namespace gmpi {

namespace {

constexpr const char *library_name = "libgdrapi.so.2";

/// A pinned piece of memory, passed by value.
struct Pinned {
  unsigned long handle;
};

/// What is known of it. Releases before 2.4 end before `mapping_type`.
struct PinnedInfo {
  std::uint64_t address;
  std::uint64_t bytes;
  std::uint32_t page_bytes;
  std::uint64_t cycles;
  std::uint32_t cycles_per_millisecond;
  unsigned is_mapped : 1;
  unsigned is_write_combining : 1;
  int mapping_type;
};

} // namespace

/// Functions return 0 or an error of errno's kind.
struct GdrLibrary {
  void *(*open)();
  int (*close)(void *connection);
  int (*pin)(void *connection, unsigned long address, std::size_t bytes, std::uint64_t token,
             std::uint32_t space, Pinned *pinned);
  int (*unpin)(void *connection, Pinned pinned);
  int (*info)(void *connection, Pinned pinned, PinnedInfo *info);
  int (*map)(void *connection, Pinned pinned, void **address, std::size_t bytes);
  int (*unmap)(void *connection, Pinned pinned, void *address, std::size_t bytes);

  std::string against; ///< why it is of no use
};

namespace {

template <class F> bool find(void *library, const char *name, F &function) {
  function = reinterpret_cast<F>(dlsym(library, name));
  return function != nullptr;
}

GdrLibrary load() {
  GdrLibrary found{};
  void *library = dlopen(library_name, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char *error = dlerror();
    found.against = std::string("GDRCopy's library cannot be loaded (") +
                    (error != nullptr ? error : library_name) + ")";
  } else if (!find(library, "gdr_open", found.open) || !find(library, "gdr_close", found.close) ||
             !find(library, "gdr_pin_buffer", found.pin) ||
             !find(library, "gdr_unpin_buffer", found.unpin) ||
             !(find(library, "gdr_get_info_v2", found.info) ||
               find(library, "gdr_get_info", found.info)) || // before 2.4
             !find(library, "gdr_map", found.map) ||
             !find(library, "gdr_unmap", found.unmap)) {
    found.against =
        std::string("GDRCopy's library lacks functions of version 2 (") + library_name + ")";
  }
  return found;
}

/// Never unloaded.
const GdrLibrary &library() {
  static const GdrLibrary &library = *new GdrLibrary(load());
  return library;
}

std::string refused(const char *what, const char *function, int error) {
  return std::string("GDRCopy cannot ") + what + " the GPU's memory (" + function + ": " +
         std::strerror(error) + ")";
}

std::string unreadable(cudaError_t error) {
  cudaGetLastError();
  return std::string("the GPU's memory cannot be read (") + cudaGetErrorString(error) + ")";
}

} // namespace

std::string GdrMapping::open() {
  library_ = &library();
  if (!library_->against.empty())
    return library_->against;
  if (!gpu_aware::orders_remote_writes())
    return "the GPU does not find what others write into its memory in the order in which it was "
           "written (cudaDevAttrGPUDirectRDMAWritesOrdering)";
  connection_ = library_->open();
  if (connection_ == nullptr)
    return "GDRCopy's library does not reach its driver (gdr_open; is the kernel module gdrdrv "
           "loaded?)";
  return "";
}

std::string GdrMapping::map(void *memory, std::size_t bytes, cudaStream_t stream) {
  const auto address = reinterpret_cast<std::uintptr_t>(memory);
  if (cudaError_t error = cudaStreamSynchronize(stream); error != cudaSuccess) // may yet clear it
    return unreadable(error);
  Pinned pinned{};
  if (int error = library_->pin(connection_, address, bytes, 0, 0, &pinned))
    return refused("pin", "gdr_pin_buffer", error);
  pinned_ = pinned.handle;
  is_pinned_ = true;
  PinnedInfo info{};
  if (int error = library_->info(connection_, pinned, &info))
    return refused("describe", "gdr_get_info", error);
  if (info.address != address || info.bytes < bytes)
    return "GDRCopy has pinned other memory than it was given";
  void *mapped = nullptr;
  if (int error = library_->map(connection_, pinned, &mapped, bytes))
    return refused("map", "gdr_map", error);
  mapped_ = mapped;
  bytes_ = bytes;
  std::string against = arrives(memory, 0x9e3779b97f4a7c15, stream); // no two words are the same
  return against.empty() ? arrives(memory, 0, stream) : against;
}

/// Stores `factor` times its number to each word and looks what the device's memory holds then.
std::string GdrMapping::arrives(const void *memory, std::uint64_t factor, cudaStream_t stream) {
  std::vector<std::uint64_t> stored(bytes_ / sizeof(std::uint64_t)), found(stored.size());
  for (std::size_t i = 0; i < stored.size(); ++i)
    stored[i] = factor * (i + 1);
  for (std::size_t i = 0; i < stored.size(); ++i)
    __atomic_store_n(words() + i, stored[i], __ATOMIC_RELAXED);
  fence_mapped_writes();
  cudaError_t error = cudaMemcpyAsync(found.data(), memory, bytes_, cudaMemcpyDeviceToHost, stream);
  if (error == cudaSuccess)
    error = cudaStreamSynchronize(stream);
  if (error != cudaSuccess)
    return unreadable(error);
  return found == stored
             ? ""
             : "what is stored to GDRCopy's mapping does not arrive in the GPU's memory";
}

GdrMapping::~GdrMapping() {
  if (mapped_ != nullptr)
    library_->unmap(connection_, {pinned_}, mapped_, bytes_);
  if (is_pinned_)
    library_->unpin(connection_, {pinned_});
  if (connection_ != nullptr)
    library_->close(connection_);
}

} // namespace gmpi
