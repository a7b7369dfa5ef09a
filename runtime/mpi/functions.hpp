// functions.def as C++: the functions' numbers, names and kinds, one struct that can hold any
// call's arguments, and their encoding as the words of an Attribute. Host and device.
//
// Invariant: encode_arguments and decode_arguments walk the same roles in the same order.
#pragma once

#include "each.hpp"
#include "mpi_library.hpp"

#include <cstdint>

namespace gmpi {

enum class Function : std::uint8_t {
#define GMPI_FUNCTION(name, start, kind, roles) name,
#define GMPI_FUNCTION_0(name, result, kind) name,
#include "functions.def"
  // Requests of the runtime itself.
  copied,  ///< the kernel's threads have carried out the copy they were asked for
  waiting, ///< a kernel has been waiting for a request for long: it counts as blocked
  leave,   ///< the last thread of a launch has left its kernel
  carried, ///< a wait that the proxy was told of is over: from kernel to kernel
  progress, ///< kernels of this rank exchange messages, though some of them wait
  offer,     ///< a long receive's buffer may be mapped by other ranks: in_bytes is its address
  map_offer, ///< another rank's buffer that this rank sends to: in_bytes says which
};

enum class Kind : std::uint8_t {
  blocking,
  nonblocking,
  collective,
  completion,
  local,
  terminal,
  internal
};

/// "MPI_Send" for Function::Send; "" for the runtime's own requests.
GMPI_HOST_DEVICE constexpr const char *name_of(Function function) {
  switch (function) {
#define GMPI_FUNCTION(name, start, kind, roles)                                                    \
  case Function::name:                                                                             \
    return "MPI_" #name;
#define GMPI_FUNCTION_0(name, result, kind)                                                        \
  case Function::name:                                                                             \
    return "MPI_" #name;
#include "functions.def"
  default:
    return "";
  }
}

GMPI_HOST_DEVICE constexpr Kind kind_of(Function function) {
  switch (function) {
#define GMPI_FUNCTION(name, start, kind, roles)                                                    \
  case Function::name:                                                                             \
    return Kind::kind;
#define GMPI_FUNCTION_0(name, result, kind)                                                        \
  case Function::name:                                                                             \
    return Kind::kind;
#include "functions.def"
  default:
    return Kind::internal;
  }
}

/// The arguments of one call, by role; those that the function does not have are zero.
struct Arguments {
#define GMPI_ARGUMENT(role, type, use) type role;
#include "functions.def"
};

/// The C type of each role.
namespace argument {
#define GMPI_ARGUMENT(role, type, use) using role = type;
#include "functions.def"
} // namespace argument

// A value as 48 bits and back. Numbers and pointers are sign-extended: user-space addresses fit,
// and so do MPI's marks such as (void *)-1.
template <class T> GMPI_HOST_DEVICE inline std::uint64_t to_word(T value) {
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
}
template <class T> GMPI_HOST_DEVICE inline std::uint64_t to_word(T *value) {
  return reinterpret_cast<std::uint64_t>(value);
}
template <class T> struct FromWord {
  GMPI_HOST_DEVICE static T get(std::uint64_t word) { return static_cast<T>(word); }
};
template <class T> struct FromWord<T *> {
  GMPI_HOST_DEVICE static T *get(std::uint64_t word) {
    auto extended = static_cast<std::int64_t>(word << 16) >> 16;
    return reinterpret_cast<T *>(extended);
  }
};

/// Writes the arguments of `function` to `words` (room for 12); returns how many.
GMPI_HOST_DEVICE inline int encode_arguments(Function function, const Arguments &arguments,
                                             std::uint64_t *words) {
  std::uint64_t *word = words;
  switch (function) {
#define GMPI_ENCODE(role) *word++ = to_word(arguments.role);
#define GMPI_FUNCTION(name, start, kind, roles)                                                    \
  case Function::name:                                                                             \
    GMPI_EACH(GMPI_ENCODE, roles) break;
#include "functions.def"
#undef GMPI_ENCODE
  default:
    break;
  }
  return static_cast<int>(word - words);
}

/// The reverse of encode_arguments. What the function has no argument for is zero.
GMPI_HOST_DEVICE inline void decode_arguments(Function function, const std::uint64_t *word,
                                              Arguments &arguments) {
  arguments = {};
  switch (function) {
#define GMPI_DECODE(role) arguments.role = FromWord<argument::role>::get(*word++);
#define GMPI_FUNCTION(name, start, kind, roles)                                                    \
  case Function::name:                                                                             \
    GMPI_EACH(GMPI_DECODE, roles) break;
#include "functions.def"
#undef GMPI_DECODE
  default:
    break;
  }
}

} // namespace gmpi
