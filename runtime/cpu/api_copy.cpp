// Copies and fills. Ranges are checked against the allocations they lie in, as CUDA does.
#include "api_support.hpp"
#include "device_memory.hpp"

#include <cstring>
#include <vector>

namespace gmpi::cpu {
namespace {

struct Rows { // a 2-D range; one row of `width` bytes for plain copies
  std::size_t width, height;
  std::size_t span(std::size_t pitch) const {
    return height == 0 ? 0 : pitch * (height - 1) + width;
  }
};

enum class Side { host, device, any };

// What is known of one end of a copy, and whether it may be.
cudaError_t check(const void *pointer, std::size_t bytes, Side side, bool &pageable) {
  DeviceMemory::Found found;
  const bool known = device_memory().find(pointer, found);
  pageable = !known;
  if (!known)
    return side == Side::device ? cudaErrorInvalidValue : cudaSuccess;
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  if (address - found.begin + bytes > found.bytes)
    return cudaErrorInvalidValue;
  const bool device = found.kind == MemoryKind::device || found.kind == MemoryKind::symbol;
  return device && side == Side::host ? cudaErrorInvalidValue : cudaSuccess;
}

Side from_side(cudaMemcpyKind kind) {
  return kind == cudaMemcpyDefault                                        ? Side::any
         : kind == cudaMemcpyHostToDevice || kind == cudaMemcpyHostToHost ? Side::host
                                                                          : Side::device;
}
Side to_side(cudaMemcpyKind kind) {
  return kind == cudaMemcpyDefault                                        ? Side::any
         : kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyHostToHost ? Side::host
                                                                          : Side::device;
}

void copy_rows(char *to, std::size_t to_pitch, const char *from, std::size_t from_pitch,
               Rows rows) {
  if (to_pitch == rows.width && from_pitch == rows.width) {
    std::memmove(to, from, rows.width * rows.height);
    return;
  }
  for (std::size_t row = 0; row < rows.height; ++row)
    std::memmove(to + row * to_pitch, from + row * from_pitch, rows.width);
}

void run(cudaStream_t stream, std::function<void()> task, bool wait) {
  Operation operation;
  operation.task = std::move(task);
  const unsigned long long order = Streams::get().enqueue(stream, std::move(operation));
  if (wait)
    Streams::get().synchronize(stream, order);
}

// `wait`: the call is a synchronous one. An asynchronous copy from pageable memory has read it when
// it returns, one into pageable memory is done when it returns: both as CUDA does.
cudaError_t copy(void *to, std::size_t to_pitch, const void *from, std::size_t from_pitch,
                 Rows rows, cudaMemcpyKind kind, cudaStream_t stream, bool wait) {
  if (rows.width == 0 || rows.height == 0)
    return cudaSuccess;
  if (rows.width > to_pitch || rows.width > from_pitch)
    return result(cudaErrorInvalidPitchValue);
  if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault)
    return result(cudaErrorInvalidMemcpyDirection);
  bool to_pageable, from_pageable;
  cudaError_t error = check(to, rows.span(to_pitch), to_side(kind), to_pageable);
  if (error == cudaSuccess)
    error = check(from, rows.span(from_pitch), from_side(kind), from_pageable);
  if (error != cudaSuccess || !to || !from)
    return result(cudaErrorInvalidValue);
  char *target = static_cast<char *>(to);
  const char *source = static_cast<const char *>(from);
  if (from_pageable && !wait && !to_pageable) {
    auto staged = std::make_shared<std::vector<char>>(rows.width * rows.height);
    copy_rows(staged->data(), rows.width, source, from_pitch, rows);
    run(
        stream, [=] { copy_rows(target, to_pitch, staged->data(), rows.width, rows); }, false);
  } else {
    run(
        stream, [=] { copy_rows(target, to_pitch, source, from_pitch, rows); },
        wait || to_pageable);
  }
  return cudaSuccess;
}

cudaError_t fill(void *to, std::size_t pitch, int value, Rows rows, cudaStream_t stream,
                 bool wait) {
  if (rows.width == 0 || rows.height == 0)
    return cudaSuccess;
  bool pageable;
  if (rows.width > pitch)
    return result(cudaErrorInvalidPitchValue);
  if (check(to, rows.span(pitch), Side::device, pageable) != cudaSuccess)
    return result(cudaErrorInvalidValue);
  char *target = static_cast<char *>(to);
  run(
      stream,
      [=] {
        for (std::size_t row = 0; row < rows.height; ++row)
          std::memset(target + row * pitch, value, rows.width);
      },
      wait);
  return cudaSuccess;
}

} // namespace
} // namespace gmpi::cpu

using gmpi::cpu::copy;
using gmpi::cpu::fill;

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind) {
  cudaStream_t stream = nullptr;
  GMPI_CPU_API_STREAM;
  return copy(to, bytes, from, bytes, {bytes, 1}, kind, stream, true);
}
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  GMPI_CPU_API_STREAM;
  return copy(to, bytes, from, bytes, {bytes, 1}, kind, stream, false);
}
cudaError_t cudaMemcpyPeer(void *to, int, const void *from, int, size_t bytes) {
  return cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToDevice);
}
cudaError_t cudaMemcpyPeerAsync(void *to, int, const void *from, int, size_t bytes,
                                cudaStream_t stream) {
  return cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream);
}
cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                         size_t width, size_t height, cudaMemcpyKind kind) {
  cudaStream_t stream = nullptr;
  GMPI_CPU_API_STREAM;
  return copy(to, to_pitch, from, from_pitch, {width, height}, kind, stream, true);
}
cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                              size_t width, size_t height, cudaMemcpyKind kind,
                              cudaStream_t stream) {
  GMPI_CPU_API_STREAM;
  return copy(to, to_pitch, from, from_pitch, {width, height}, kind, stream, false);
}

cudaError_t cudaMemset(void *to, int value, size_t bytes) {
  cudaStream_t stream = nullptr;
  GMPI_CPU_API_STREAM;
  return fill(to, bytes, value, {bytes, 1}, stream, true);
}
cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t stream) {
  GMPI_CPU_API_STREAM;
  return fill(to, bytes, value, {bytes, 1}, stream, false);
}
cudaError_t cudaMemset2D(void *to, size_t pitch, int value, size_t width, size_t height) {
  cudaStream_t stream = nullptr;
  GMPI_CPU_API_STREAM;
  return fill(to, pitch, value, {width, height}, stream, true);
}
cudaError_t cudaMemset2DAsync(void *to, size_t pitch, int value, size_t width, size_t height,
                              cudaStream_t stream) {
  GMPI_CPU_API_STREAM;
  return fill(to, pitch, value, {width, height}, stream, false);
}
