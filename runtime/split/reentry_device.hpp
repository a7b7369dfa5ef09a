// What split bodies need where control only comes by on its way to a resume point: values that
// nobody reads, copies that no constructor makes, the loops behind range-for.
//
// Invariant: all of it is for trivially copyable types, whose bytes are their value.
#pragma once

#include "../queue/memory_device.hpp"

#include <cstddef>
#include <type_traits>

namespace gmpi::split {

template <class T> struct WithoutRestrict { using type = T; };
template <class T> struct WithoutRestrict<T *__restrict__> { using type = T *; };
/// T without const, reference and __restrict__.
template <class T>
using Plain = typename WithoutRestrict<std::remove_cv_t<std::remove_reference_t<T>>>::type;

/// What a reference of type T is bound to.
template <class T> using Referent = std::remove_reference_t<T>;

/// Some value.
template <class T> GMPI_DEVICE Plain<T> nothing() {
  union Storage {
    GMPI_DEVICE Storage() {}
    GMPI_DEVICE ~Storage() {}
    unsigned char bytes[sizeof(Plain<T>)];
    Plain<T> value;
  } storage;
  return storage.value;
}
/// A reference that must not be used.
template <class T> GMPI_DEVICE std::remove_reference_t<T> &nothing_reference() {
  std::size_t address = alignof(Plain<T>);
  return *reinterpret_cast<std::remove_reference_t<T> *>(address);
}
/// For `auto x = resumes ? Nothing() : init;`, where the initialiser gives the type.
struct Nothing {
  template <class T> GMPI_DEVICE operator T() const { return nothing<T>(); }
};

/// Makes `to` what `from` is, or becomes as a T; also where `to` was declared const.
template <class T, class From> GMPI_DEVICE void copy(const T &to, const From &from) {
  if constexpr (std::is_array<T>::value) {
    for (std::size_t i = 0; i < std::extent<T>::value; ++i)
      copy(to[i], from[i]);
  } else if constexpr (!std::is_same<Plain<T>, Plain<From>>::value) {
    copy(to, T(from));
  } else if constexpr (std::is_trivially_copy_assignable<std::remove_cv_t<T>>::value) {
    const_cast<std::remove_const_t<T> &>(to) = from;
  } else {
    auto *bytes =
        const_cast<unsigned char *>(reinterpret_cast<const volatile unsigned char *>(&to));
    for (std::size_t i = 0; i < sizeof(T); ++i)
      bytes[i] = reinterpret_cast<const unsigned char *>(&from)[i];
  }
}

/// The same where several threads write one place, all of them the same value: a race that changes
/// nothing, and that ThreadSanitizer need not report.
#ifdef __SANITIZE_THREAD__
template <class T, class From>
__attribute__((no_sanitize("thread"))) void copy_in_common(T &to, const From &from) {
  alignas(T) unsigned char bytes[sizeof(T)];
  copy(reinterpret_cast<T &>(bytes), from);
  for (std::size_t i = 0; i < sizeof(T); ++i)
    reinterpret_cast<volatile unsigned char *>(&to)[i] = bytes[i];
}
#else
template <class T, class From> GMPI_DEVICE void copy_in_common(T &to, const From &from) {
  copy(to, from);
}
#endif

template <class T, std::size_t Size> GMPI_DEVICE T *begin(T (&array)[Size]) { return array; }
template <class T, std::size_t Size> GMPI_DEVICE T *end(T (&array)[Size]) { return array + Size; }
template <class Range> GMPI_DEVICE auto begin(Range &range) { return range.begin(); }
template <class Range> GMPI_DEVICE auto end(Range &range) { return range.end(); }

} // namespace gmpi::split
