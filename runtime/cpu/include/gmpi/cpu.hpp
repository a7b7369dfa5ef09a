// What the cpu device gives to the rest of the runtime, and to translated programs, beyond CUDA's
// own API: launching, block-shared storage, and what device code may ask about itself. builtins.hpp
// adds in_kernel, yield, is_local, is_shared, is_device and fail.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

#include "gmpi/cpu/builtins.hpp"

namespace gmpi::cpu {

// Where a __shared__ variable is declared.
struct SharedSite {
  unsigned file, line, column;
};

// The calling block's storage for (site, type): the same bytes for all threads of the block, 0xA5
// at first. `type` is any address that stands for the variable's type.
void *shared_storage(SharedSite site, const void *type, std::size_t bytes, std::size_t alignment);
// The calling block's dynamic shared memory: aligned to 1024 bytes. The launch gives its size.
void *dynamic_shared_storage();
std::size_t dynamic_shared_bytes();

template <class T> inline constexpr char type_tag = 0;

template <class T> T &shared(SharedSite site) {
  static_assert(std::is_trivially_destructible_v<T>, "a __shared__ variable has no destructor");
  return *static_cast<T *>(shared_storage(site, &type_tag<T>, sizeof(T), alignof(T)));
}
template <class T> T *dynamic_shared() { return static_cast<T *>(dynamic_shared_storage()); }

// One kernel launch. `thread` is run once by every GPU thread, on that thread's own stack.
struct KernelLaunch {
  dim3 grid, block;
  std::size_t shared_bytes = 0; // dynamic shared memory a block
  cudaStream_t stream = nullptr;
  bool cooperative = false; // all blocks resident at once, grid barriers allowed
  std::function<void()> thread;
  const char *name = "kernel"; // must outlive the kernel; for reports
  // Called instead of the kernel's completion when the process is about to abort because a thread
  // of this kernel failed (a fault, an assertion, a barrier not all reach). May be empty.
  std::function<void()> on_abandon;
};

// Puts the kernel into its stream and returns. cudaErrorCooperativeLaunchTooLarge: cooperative, and
// the grid does not fit on the device at once. cudaErrorInvalidConfiguration: empty grid or block,
// or over CUDA's limits. cudaErrorInvalidValue: too much shared memory.
cudaError_t launch(KernelLaunch launch);

// What `stream` is given from now on waits until release_stream() of what this returns, which does not
// block: as a GPU's stream waits for a word in memory. Null where there is no such stream.
std::shared_ptr<void> hold_stream(cudaStream_t stream);
void release_stream(const std::shared_ptr<void> &hold);

// How many blocks of this shape the whole device holds at once; 0 where not even one fits.
int max_resident_blocks(unsigned threads_per_block, std::size_t shared_bytes);

// A kernel with its arguments. Each GPU thread gets copies of its own.
template <class... P>
std::function<void()> bind(void (*kernel)(P...), std::tuple<std::decay_t<P>...> arguments) {
  return [kernel, arguments = std::move(arguments)] { std::apply(kernel, arguments); };
}

// The same from CUDA's form, an array of pointers to the arguments, which are copied now.
template <class... P, std::size_t... I>
std::function<void()> bind_pointers(void (*kernel)(P...), [[maybe_unused]] void **arguments,
                                    std::index_sequence<I...>) {
  return cpu::bind(
      kernel, std::tuple<std::decay_t<P>...>(*static_cast<std::decay_t<P> *>(arguments[I])...));
}
template <class... P> std::function<void()> bind(void (*kernel)(P...), void **arguments) {
  return bind_pointers(kernel, arguments, std::index_sequence_for<P...>{});
}

} // namespace gmpi::cpu
