// What differs between MPI libraries and must be known on the device: how a status holds its
// count, which values of MPI_Request no library uses for its own, and, for Open MPI, that
// predefined handles are addresses of host variables (see predefined_handles.hpp).
#pragma once

#ifndef MPICH_SKIP_MPICXX
#define MPICH_SKIP_MPICXX 1
#endif
#ifndef OMPI_SKIP_MPICXX
#define OMPI_SKIP_MPICXX 1
#endif
#include <mpi.h>

#include <cstdint>
#include <type_traits>

#ifdef __CUDACC__
#define GMPI_HOST_DEVICE __host__ __device__
#else
#define GMPI_HOST_DEVICE
#endif

namespace gmpi {

#if defined(OPEN_MPI)
/// Bytes received, from the status that a receive has filled.
GMPI_HOST_DEVICE inline long long status_bytes(const MPI_Status &status) {
  return static_cast<long long>(status._ucount);
}
GMPI_HOST_DEVICE inline void set_status_bytes(MPI_Status &status, long long bytes) {
  status._ucount = static_cast<decltype(status._ucount)>(bytes);
  status._cancelled = 0;
}
#elif defined(MPICH_VERSION) || defined(I_MPI_VERSION) || defined(MVAPICH2_VERSION)
/// Bytes received, from the status that a receive has filled.
GMPI_HOST_DEVICE inline long long status_bytes(const MPI_Status &status) {
  auto high = static_cast<long long>(static_cast<unsigned>(status.count_hi_and_cancelled) >> 1);
  return high << 32 | static_cast<unsigned>(status.count_lo);
}
GMPI_HOST_DEVICE inline void set_status_bytes(MPI_Status &status, long long bytes) {
  status.count_lo = static_cast<int>(static_cast<unsigned long long>(bytes));
  status.count_hi_and_cancelled = static_cast<int>((bytes >> 32) << 1);
}
#else
#error "gmpi knows MPICH (and libraries with its ABI) and Open MPI; this mpi.h is neither"
#endif

// A kernel's own request: 10 bits of slot, 6 of device and 12 of serial number. MPICH's handles carry
// their kind in the two topmost bits, never 0 but for the null handles, which have no bits below
// 26 set; Open MPI's are pointers, and these are no canonical address.
template <class Request, bool IsPointer = std::is_pointer<Request>::value> struct RequestBits;
template <class Request> struct RequestBits<Request, false> {
  static constexpr std::uint64_t mark = 0x30000000u, mask = 0xf0000000u;
  GMPI_HOST_DEVICE static Request make(std::uint64_t bits) { return static_cast<Request>(bits); }
  GMPI_HOST_DEVICE static std::uint64_t get(Request request) {
    return static_cast<std::uint32_t>(request);
  }
};
template <class Request> struct RequestBits<Request, true> {
  static constexpr std::uint64_t mark = 0x7a3d000000000000u, mask = 0xffff000000000000u;
  GMPI_HOST_DEVICE static Request make(std::uint64_t bits) {
    return reinterpret_cast<Request>(bits);
  }
  GMPI_HOST_DEVICE static std::uint64_t get(Request request) {
    return reinterpret_cast<std::uint64_t>(request);
  }
};

/// Which request slot of which device, and which of its uses.
struct KernelRequest {
  std::uint32_t slot;   ///< below 1024
  std::uint32_t device; ///< below 64
  std::uint32_t serial; ///< 12 bits
};
constexpr std::uint32_t serial_mask = 0xfff;
/// In place of a device: the request's message goes from kernel to kernel, and kernels alone know of it.
constexpr std::uint32_t peer_device = 31;

GMPI_HOST_DEVICE inline MPI_Request encode_request(KernelRequest request) {
  using Bits = RequestBits<MPI_Request>;
  return Bits::make(Bits::mark | std::uint64_t(request.serial & serial_mask) << 16 |
                    request.device << 10 | request.slot);
}
GMPI_HOST_DEVICE inline bool is_kernel_request(MPI_Request request) {
  using Bits = RequestBits<MPI_Request>;
  return (Bits::get(request) & Bits::mask) == Bits::mark;
}
GMPI_HOST_DEVICE inline KernelRequest decode_request(MPI_Request request) {
  auto bits = RequestBits<MPI_Request>::get(request);
  return {static_cast<std::uint32_t>(bits & 0x3ff), static_cast<std::uint32_t>(bits >> 10 & 0x3f),
          static_cast<std::uint32_t>(bits >> 16 & serial_mask)};
}
/// A kernel's request as a number of 28 bits, and back.
GMPI_HOST_DEVICE inline std::uint32_t number_of_request(MPI_Request request) {
  return static_cast<std::uint32_t>(RequestBits<MPI_Request>::get(request) & 0xfffffff);
}
GMPI_HOST_DEVICE inline MPI_Request request_of_number(std::uint32_t number) {
  using Bits = RequestBits<MPI_Request>;
  return Bits::make(Bits::mark | number);
}
/// The request of a nonblocking call from or to MPI_PROC_NULL. It is no MPI_REQUEST_NULL, since the
/// status of its completion names MPI_PROC_NULL. Slot 0 belongs to launches: no other request has it.
GMPI_HOST_DEVICE inline MPI_Request null_peer_request() { return encode_request({0, 0, 0}); }

} // namespace gmpi
