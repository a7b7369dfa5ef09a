// On the cpu device a launch needs, behind the pointers to its arguments, a function object that
// runs one thread: made here, where the parameters' types are known. On cuda the driver does this.
#pragma once

#include "../queue/context.hpp"

#include <cstddef>
#include <functional>
#include <tuple>
#include <type_traits>
#include <utility>

namespace gmpi {

/// Hidden first parameter of a translated kernel.
struct Launched {
  LaunchState *state;
  std::uint32_t index; ///< the launch's number in the proxy's table
};

namespace launch {

#ifdef GMPI_DEVICE_CPU

/// What each thread of a kernel runs; `launched` is null for a kernel without MPI. The arguments
/// are copied, as a launch does.
using Binder = std::function<void()> (*)(const void *kernel, const Launched *launched,
                                         void **arguments);

template <class... P> struct Bind {
  using Copies = std::tuple<std::remove_cv_t<P>...>;

  template <std::size_t... I>
  static Copies copy([[maybe_unused]] void **arguments, std::index_sequence<I...>) {
    return Copies(*static_cast<std::remove_cv_t<P> *>(arguments[I])...);
  }

  static std::function<void()> make(const void *kernel, const Launched *launched,
                                    void **arguments) {
    void *address = const_cast<void *>(kernel);
    Copies copies = copy(arguments, std::index_sequence_for<P...>());
    if (launched == nullptr)
      return [plain = reinterpret_cast<void (*)(P...)>(address), copies] {
        std::apply(plain, copies);
      };
    return [queue = reinterpret_cast<void (*)(Launched, P...)>(address), launched = *launched,
            copies] {
      std::apply([&](const auto &...parameters) { queue(launched, parameters...); }, copies);
    };
  }
};

template <class... P> Binder binder() { return &Bind<P...>::make; }

#else

using Binder = std::nullptr_t;
template <class... P> Binder binder() { return nullptr; }

#endif

} // namespace launch
} // namespace gmpi
