// MPI's predefined reductions, on the eight bytes of a packet.
#pragma once

#include "../../mpi/datatypes_device.hpp"
#include "../channel/channel_device.hpp"

namespace gmpi::device::peer {

GMPI_DEVICE Reduction reduction_of(MPI_Op op) {
  // Not a switch: handles need not be constants.
  return op == MPI_SUM    ? Reduction::sum
         : op == MPI_MAX  ? Reduction::max
         : op == MPI_MIN  ? Reduction::min
         : op == MPI_PROD ? Reduction::prod
         : op == MPI_LAND ? Reduction::land
         : op == MPI_BAND ? Reduction::band
         : op == MPI_LOR  ? Reduction::lor
         : op == MPI_BOR  ? Reduction::bor
         : op == MPI_LXOR ? Reduction::lxor
         : op == MPI_BXOR ? Reduction::bxor
                          : Reduction::none;
}

GMPI_DEVICE bool can_reduce(MPI_Op op, MPI_Datatype datatype) {
  Reduction reduction = reduction_of(op);
  Number number = look_up(datatype).number;
  if (number == Number::float32 || number == Number::float64)
    return reduction >= Reduction::max && reduction <= Reduction::prod;
  return number != Number::none && reduction != Reduction::none;
}

template <class T> GMPI_DEVICE T reduce_one(Reduction reduction, T a, T b) {
  switch (reduction) {
  case Reduction::max:
    return a < b ? b : a;
  case Reduction::min:
    return b < a ? b : a;
  case Reduction::sum:
    return static_cast<T>(a + b);
  case Reduction::prod:
    return static_cast<T>(a * b);
  default:
    break;
  }
  if constexpr (std::is_integral<T>::value) {
    switch (reduction) {
    case Reduction::land:
      return a && b;
    case Reduction::lor:
      return a || b;
    case Reduction::lxor:
      return !a != !b;
    case Reduction::band:
      return static_cast<T>(a & b);
    case Reduction::bor:
      return static_cast<T>(a | b);
    case Reduction::bxor:
      return static_cast<T>(a ^ b);
    default:
      break;
    }
  }
  return a;
}

/// As many elements as there are in eight bytes.
template <class T, class One>
GMPI_DEVICE std::uint64_t for_each_element(std::uint64_t a, std::uint64_t b, One one) {
  constexpr int count = 8 / sizeof(T);
  T left[count], right[count];
  memcpy(left, &a, 8);
  memcpy(right, &b, 8);
  GMPI_UNROLL
  for (int i = 0; i < count; ++i)
    left[i] = one(left[i], right[i]);
  memcpy(&a, left, 8);
  return a;
}
template <class T>
GMPI_DEVICE std::uint64_t reduce_each(Reduction reduction, std::uint64_t a, std::uint64_t b) {
  return for_each_element<T>(a, b, [=](T x, T y) { return reduce_one(reduction, x, y); });
}

GMPI_OUT_OF_LINE std::uint64_t reduce(Reduction reduction, Number number, std::uint64_t a,
                                      std::uint64_t b) {
  switch (number) {
  case Number::float64:
    return reduce_each<double>(reduction, a, b);
  case Number::float32:
    return reduce_each<float>(reduction, a, b);
  case Number::int8:
    return reduce_each<std::int8_t>(reduction, a, b);
  case Number::uint8:
    return reduce_each<std::uint8_t>(reduction, a, b);
  case Number::int16:
    return reduce_each<std::int16_t>(reduction, a, b);
  case Number::uint16:
    return reduce_each<std::uint16_t>(reduction, a, b);
  case Number::int32:
    return reduce_each<std::int32_t>(reduction, a, b);
  case Number::uint32:
    return reduce_each<std::uint32_t>(reduction, a, b);
  case Number::int64:
    return reduce_each<std::int64_t>(reduction, a, b);
  case Number::uint64:
    return reduce_each<std::uint64_t>(reduction, a, b);
  default:
    return a;
  }
}

/// What is reduced most, and nothing at all, takes no call: functions without calls save no
/// registers, which takes longer than such a round's data does.
GMPI_DEVICE bool is_common(Reduction reduction, Number number) {
  return reduction == Reduction::none ||
         ((reduction == Reduction::sum || reduction == Reduction::max ||
           reduction == Reduction::min) &&
          (number == Number::float32 || number == Number::float64 || number == Number::int32));
}
/// (Without a branch for each.)
template <class T>
GMPI_DEVICE std::uint64_t reduce_each_common(Reduction reduction, std::uint64_t a,
                                             std::uint64_t b) {
  return for_each_element<T>(a, b, [=](T x, T y) {
    const T sum = static_cast<T>(x + y);
    const bool second = reduction == Reduction::max ? x < y : y < x;
    return reduction == Reduction::sum ? sum : second ? y : x;
  });
}
GMPI_DEVICE std::uint64_t reduce_common(Reduction reduction, Number number, std::uint64_t a,
                                        std::uint64_t b) {
  return number == Number::float64   ? reduce_each_common<double>(reduction, a, b)
         : number == Number::float32 ? reduce_each_common<float>(reduction, a, b)
                                     : reduce_each_common<std::int32_t>(reduction, a, b);
}

/// How parts are combined; `common`: as is_common() says.
template <bool common> struct Combine {
  Reduction reduction;
  Number number;

  GMPI_DEVICE std::uint64_t operator()(std::uint64_t a, std::uint64_t b) const {
    return common ? reduce_common(reduction, number, a, b) : reduce(reduction, number, a, b);
  }
};

} // namespace gmpi::device::peer
