// The CUDA functions of wrapped_calls.def as programs call them: a guard around the real one.
// Programs that are linked without the linker's options call CUDA's own, and this file is not
// linked in; the watchdog then knows less, and a host that waits inside CUDA for a split kernel
// waits for good.
#include "../peer/hosts/links.hpp"
#include "../split/host_calls.hpp"

using namespace gmpi::split;

namespace {

[[gnu::constructor]] void say_so() { note_wrapped_calls(); }

/// Around what frees memory that other ranks may have mapped.
class FreeGuard {
public:
  FreeGuard() { before_free(); }
  ~FreeGuard() {
    if (gmpi::peer::Links *links = gmpi::peer::Links::instance())
      links->offers().after_free();
  }
  FreeGuard(const FreeGuard &) = delete;
};

} // namespace

#define GMPI_WRAP(name, default_stream, parameters, arguments, guard)                              \
  extern "C" cudaError_t __real_##name parameters;                                                 \
  extern "C" cudaError_t __wrap_##name parameters;                                                 \
  extern "C" cudaError_t __wrap_##name parameters {                                                \
    [[maybe_unused]] auto turn = [](cudaStream_t given) {                                          \
      return given == nullptr ? default_stream : given;                                            \
    };                                                                                             \
    guard;                                                                                         \
    return __real_##name arguments;                                                                \
  }
#define GMPI_LEGACY static_cast<cudaStream_t>(nullptr)
#define GMPI_NONE(...)

#define GMPI_ANY_CALL(name, suffix, ...) GMPI_WRAP(name, GMPI_LEGACY, __VA_ARGS__)
#ifdef GMPI_DEVICE_CPU
#define GMPI_CUDA_CALL GMPI_NONE
#else
#define GMPI_CUDA_CALL GMPI_ANY_CALL
#endif
#if !defined(GMPI_DEVICE_CPU) && CUDART_VERSION >= 13000
#define GMPI_CUDA13_CALL GMPI_ANY_CALL
#else
#define GMPI_CUDA13_CALL GMPI_NONE
#endif
#include "wrapped_calls.def"

#ifndef GMPI_DEVICE_CPU
#undef GMPI_ANY_CALL
#define GMPI_ANY_CALL(name, suffix, ...) GMPI_FORM_##suffix(name, __VA_ARGS__)
#define GMPI_FORM_none GMPI_NONE
#define GMPI_FORM__ptsz(name, ...) GMPI_WRAP(name##_ptsz, cudaStreamPerThread, __VA_ARGS__)
#define GMPI_FORM__ptds(name, ...) GMPI_WRAP(name##_ptds, cudaStreamPerThread, __VA_ARGS__)
#include "wrapped_calls.def"
#endif
