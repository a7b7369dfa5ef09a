// What needs the types of a kernel's parameters. On the cpu device a launch needs, behind the pointers to
// its arguments, a function object that runs one thread; on cuda the driver does this. A split kernel,
// launched again and again, needs a copy of its arguments.
#pragma once

#include "../queue/context.hpp"

#include <cstddef>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#ifdef GMPI_DEVICE_CPU
#include <functional>
#endif

namespace gmpi {

struct Segment;

/// Launched::index of a launch in which nothing runs.
constexpr std::uint32_t empty_launch = ~0u;

/// Hidden first parameter of a translated kernel.
struct Launched {
  LaunchState *state;
  std::uint32_t index; ///< the launch's number in the proxy's table
};

namespace launch {

/// Arguments that outlive the launch call; `pointers` is as CUDA's launch functions take them.
struct CopiedArguments {
  std::shared_ptr<void> owner;
  std::vector<void *> pointers;
};
using ArgumentCopier = CopiedArguments (*)(void **arguments);

template <class... P> struct CopyArguments {
  using Copies = std::tuple<std::remove_cv_t<P>...>;

  template <std::size_t... I>
  static CopiedArguments copy([[maybe_unused]] void **arguments, std::index_sequence<I...>) {
    auto copies =
        std::make_shared<Copies>(*static_cast<std::remove_cv_t<P> *>(arguments[I])...);
    return {copies, {const_cast<void *>(static_cast<const volatile void *>(&std::get<I>(*copies)))...}};
  }
  static CopiedArguments make(void **arguments) {
    return copy(arguments, std::index_sequence_for<P...>());
  }
};

#ifdef GMPI_DEVICE_CPU

/// What each thread of a kernel runs; `launched` is null for a kernel without MPI. The arguments
/// are copied, as a launch does.
using Binder = std::function<void()> (*)(const void *kernel, const Launched *launched,
                                         void **arguments);
/// The same for a segment of a split kernel.
using SegmentBinder = std::function<void()> (*)(const void *segment_function, const Segment &segment,
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

  template <class S>
  static std::function<void()> make_segment(const void *function, const S &segment,
                                            void **arguments) {
    return [function = reinterpret_cast<void (*)(S, P...)>(const_cast<void *>(function)), segment,
            copies = copy(arguments, std::index_sequence_for<P...>())] {
      std::apply([&](const auto &...parameters) { function(segment, parameters...); }, copies);
    };
  }
};

template <class... P> Binder binder() { return &Bind<P...>::make; }
template <class... P> SegmentBinder segment_binder() {
  return &Bind<P...>::template make_segment<Segment>;
}

#else

using Binder = std::nullptr_t;
template <class... P> Binder binder() { return nullptr; }
using SegmentBinder = std::nullptr_t;
template <class... P> SegmentBinder segment_binder() { return nullptr; }

#endif

} // namespace launch
} // namespace gmpi
