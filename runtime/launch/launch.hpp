// Launching kernels: what `kernel<<<grid, block, shared, stream>>>(arguments)` becomes, and the
// registry that finds, behind the address of a kernel the user knows, the translated kernel that
// runs in its place.
//
// Errors: as with <<<>>>, a launch that CUDA refuses leaves its error with cudaGetLastError(). A
// grid that a grid-scope call needs resident at once and that does not fit ends the program with
// the numbers; cudaLaunchKernel and its kin return cudaErrorCooperativeLaunchTooLarge instead.
#pragma once

#include "../split/kernel.hpp"
#include "bind_arguments.hpp"

#include <cuda_runtime.h>

#include <cstddef>
#include <utility>
#include <vector>

namespace gmpi {

/// Name of the source file that `hash` (28 bits) stands for in call sites.
class SourceFile {
public:
  SourceFile(unsigned hash, const char *path);
};

/// One translation unit's copy of the device's Context; `symbol` as cudaMemcpyToSymbol takes it.
class Module {
public:
  explicit Module(const void *symbol);
};

namespace launch {

struct Configuration {
  dim3 grid, block;
  std::size_t shared_bytes = 0;
  cudaStream_t stream = nullptr;
  bool cooperative = false; ///< asked for by the user
  const cudaLaunchAttribute *attributes = nullptr;
  unsigned attribute_count = 0;
};

/// What becomes of a launch whose grid does not fit.
enum class OnRefusal { abort, return_error };

/// A kernel: the address the user knows, and the translated kernels that run in its place. With neither
/// `queue` nor `split`: a kernel without MPI, launched as it is.
struct KernelEntry {
  const void *stub;
  const void *queue;
  KernelInfo info;
  std::size_t parameters;
  Binder binder;
  SplitKernel split{};
  SegmentBinder segment_binder{};
  ArgumentCopier copy_arguments{};

  bool has_split() const { return !split.segments.empty(); }
};

/// Registers `entry` unless its stub is registered already; returns the one registered, which
/// stays valid. Any thread.
const KernelEntry &add_kernel(const KernelEntry &entry);
/// A kernel that the device runs for one that is registered, and how many parameters it takes.
struct DeviceKernel {
  const void *function;
  std::size_t parameters;
  bool is_segment; ///< its first parameter is a Segment, else a Launched
};
std::vector<DeviceKernel> device_kernels();
/// The entry registered for `stub`, or null.
const KernelEntry *find_kernel(const void *stub);
/// Launches a kernel. `arguments`: a pointer to each of the user's parameters.
cudaError_t run(const KernelEntry &entry, const Configuration &configuration, void **arguments,
                OnRefusal on_refusal);
/// The same by address: as the registry says, or plainly.
cudaError_t run_address(const void *kernel, const Configuration &configuration, void **arguments);

template <class... P> using QueueKernel = void (*)(Launched, P...);

template <class... P>
KernelEntry make_entry(void (*stub)(P...), void (*queue)(Launched, P...), const KernelInfo &info) {
  return {reinterpret_cast<const void *>(stub), reinterpret_cast<const void *>(queue), info,
          sizeof...(P), binder<P...>()};
}

/// The same with segments; `queue` may be null.
template <class... P>
KernelEntry make_entry(void (*stub)(P...), QueueKernel<P...> queue, SplitKernel split,
                       const KernelInfo &info) {
  KernelEntry entry = make_entry(stub, queue, info);
  entry.split = std::move(split);
  entry.segment_binder = segment_binder<P...>();
  entry.copy_arguments = &CopyArguments<P...>::make;
  return entry;
}

/// Keeps P... from being deduced from an argument that may be a plain nullptr.
template <class T> struct AsGiven { using type = T; };

/// Calls `use` with pointers to the arguments, converted to the kernel's parameter types.
template <class... P> struct Converted {
  template <class Use> static void pass(Use use, P... parameters) {
    void *pointers[] = {const_cast<void *>(static_cast<const volatile void *>(&parameters))...,
                        nullptr};
    use(pointers);
  }
};

} // namespace launch

/// Which lowering launches take from now on, where their kernel has it: "queue", "split", or "" for
/// what GMPI_LOWER says. For programs that compare lowerings, which declare it themselves:
///   namespace gmpi { void prefer_lowering(const char *); }
/// Any thread. Any other name ends the program.
void prefer_lowering(const char *name);
/// Why long messages of kernels for the queue, or of split ones, are staged; empty where MPI is given the
/// device's memory. For programs that tell, after MPI_Init; any thread. Declared as above:
///   namespace gmpi { const char *why_staged(bool split); }
const char *why_staged(bool split);

/// Registers a kernel when the program starts. Defined by translated files, one a kernel.
class Kernel {
public:
  template <class... P>
  Kernel(void (*stub)(P...), void (*queue)(Launched, P...), const KernelInfo &info) {
    launch::add_kernel(launch::make_entry(stub, queue, info));
  }
  /// `queue` may be null.
  template <class... P>
  Kernel(void (*stub)(P...), typename launch::AsGiven<launch::QueueKernel<P...>>::type queue,
         SplitKernel (*split)(), const KernelInfo &info) {
    launch::add_kernel(launch::make_entry(stub, queue, split(), info));
  }
  /// A kernel without MPI. (On the cpu device a launch by address needs its parameters' types.)
  template <class... P> Kernel(void (*kernel)(P...), const KernelInfo &info) {
    launch::add_kernel(launch::make_entry(kernel, launch::QueueKernel<P...>(nullptr), info));
  }
};

/// The part between <<< and >>>.
class Launch {
public:
  Launch(dim3 grid, dim3 block, std::size_t shared_bytes = 0, cudaStream_t stream = nullptr)
      : configuration_{grid, block, shared_bytes, stream} {}

  /// Launches a kernel whose translation stands in the same file.
  template <class... P, class... A>
  void queue(void (*stub)(P...), void (*queue)(Launched, P...), const KernelInfo &info,
             A &&...arguments) const {
    const launch::KernelEntry &entry =
        launch::add_kernel(launch::make_entry(stub, queue, info));
    launch::Converted<P...>::pass(
        [&](void **pointers) {
          launch::run(entry, configuration_, pointers, launch::OnRefusal::abort);
        },
        std::forward<A>(arguments)...);
  }

  /// The same for one that has segments; `queue` may be null. `split` is called where the kernel is not
  /// registered yet.
  template <class... P, class... A>
  void split(void (*stub)(P...), typename launch::AsGiven<launch::QueueKernel<P...>>::type queue,
             SplitKernel (*split)(), const KernelInfo &info, A &&...arguments) const {
    const launch::KernelEntry *found =
        launch::find_kernel(reinterpret_cast<const void *>(stub));
    const launch::KernelEntry &entry =
        found ? *found
              : launch::add_kernel(launch::make_entry(stub, queue, split(), info));
    launch::Converted<P...>::pass(
        [&](void **pointers) {
          launch::run(entry, configuration_, pointers, launch::OnRefusal::abort);
        },
        std::forward<A>(arguments)...);
  }

  /// Launches any other kernel: with MPI, if one is registered under this address.
  template <class... P, class... A> void operator()(void (*kernel)(P...), A &&...arguments) const {
    launch::KernelEntry plain = launch::make_entry(kernel, launch::QueueKernel<P...>(nullptr), {});
    const launch::KernelEntry *registered = launch::find_kernel(plain.stub);
    launch::Converted<P...>::pass(
        [&](void **pointers) {
          launch::run(registered ? *registered : plain, configuration_, pointers,
                      launch::OnRefusal::abort);
        },
        std::forward<A>(arguments)...);
  }

private:
  launch::Configuration configuration_;
};

/// `of(kernel)(Launch(...))(arguments)` launches by address: function pointers, kernels whose body
/// is in another file.
template <class... P> auto of(void (*kernel)(P...)) {
  return [kernel](Launch launch) {
    return [kernel, launch](P... arguments) { launch(kernel, arguments...); };
  };
}

/// The kernels that run when one is launched, for CUDA's queries and settings. A query is answered for
/// the one that stays whole, if there is one; a setting is for all of them.
class Implementation {
public:
  explicit Implementation(const void *kernel)
      : kernel_(kernel), entry_(launch::find_kernel(kernel)) {}

  operator const void *() const {
    if (entry_ == nullptr)
      return kernel_;
    return entry_->queue         ? entry_->queue
           : entry_->has_split() ? entry_->split.segments.front()
                                 : kernel_;
  }

  /// Calls `set(kernel)` for each, up to the first error.
  template <class Set> cudaError_t each(Set set) const {
    cudaError_t error = set(static_cast<const void *>(*this));
    if (entry_ != nullptr)
      for (const void *segment : entry_->split.segments)
        if (error == cudaSuccess)
          error = set(segment);
    return error;
  }

private:
  const void *kernel_;
  const launch::KernelEntry *entry_;
};

template <class F> Implementation implementation(F *kernel) {
  return Implementation(reinterpret_cast<const void *>(kernel));
}

// Calls that name no namespace find these by their argument.
inline cudaError_t cudaFuncSetAttribute(const Implementation &kernels, cudaFuncAttribute attribute,
                                        int value) {
  return kernels.each([&](const void *kernel) {
    return ::cudaFuncSetAttribute(kernel, attribute, value);
  });
}
inline cudaError_t cudaFuncSetCacheConfig(const Implementation &kernels, cudaFuncCache config) {
  return kernels.each([&](const void *kernel) { return ::cudaFuncSetCacheConfig(kernel, config); });
}

// CUDA's own launch functions, by way of the registry.

template <class F>
cudaError_t cudaLaunchKernel(F *kernel, dim3 grid, dim3 block, void **arguments,
                             std::size_t shared_bytes = 0, cudaStream_t stream = nullptr) {
  return launch::run_address(reinterpret_cast<const void *>(kernel),
                             {grid, block, shared_bytes, stream}, arguments);
}

template <class F>
cudaError_t cudaLaunchCooperativeKernel(F *kernel, dim3 grid, dim3 block, void **arguments,
                                        std::size_t shared_bytes = 0,
                                        cudaStream_t stream = nullptr) {
  return launch::run_address(reinterpret_cast<const void *>(kernel),
                             {grid, block, shared_bytes, stream, true}, arguments);
}

inline cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *kernel,
                                       void **arguments) {
  return launch::run_address(kernel,
                             {config->gridDim, config->blockDim, config->dynamicSmemBytes,
                              config->stream, false, config->attrs, config->numAttrs},
                             arguments);
}

template <class... P, class... A>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t *config, void (*kernel)(P...),
                               A &&...arguments) {
  cudaError_t error = cudaSuccess;
  launch::Converted<P...>::pass(
      [&](void **pointers) {
        error = gmpi::cudaLaunchKernelExC(config, reinterpret_cast<const void *>(kernel), pointers);
      },
      std::forward<A>(arguments)...);
  return error;
}


} // namespace gmpi
