// The host program's CUDA calls while split kernels are in flight. A call that waits inside CUDA
// keeps a lock that other threads' launches need, the driver's among them: so `kernel<<<...>>>();
// cudaMemcpy(...)` would wait for a kernel that waits for its next segment. Such calls therefore
// wait first, in one that keeps no lock (cudaEventSynchronize, cudaDeviceSynchronize), for what
// they would wait for anyway. (Which calls keep it was measured, CUDA 13.0:
// docs/runtime-protocol.md.) The same holds for kernels that wait for the proxy, where the MPI
// library makes CUDA calls of its own.
//
// Invariant: nothing waits here that would not have waited in CUDA; the driver's own calls never
// do.
#pragma once

#include "../proxy/host_wait.hpp"

namespace gmpi::split {

/// The calling thread is the driver's.
void note_driver_thread();
/// Launches that are in flight, of all devices.
void count_flights(int more);

/// Whether the program is linked so that its calls come here.
bool calls_are_wrapped();
void note_wrapped_calls();

/// CUDA's legacy default stream and such streams wait for each other.
bool joins_legacy_stream(cudaStream_t stream);
/// Whether what `stream` gets now comes after a launch in the stream `earlier`; that may have been
/// destroyed by now, so `earlier_joins` says what joins_legacy_stream() has said of it.
bool comes_after(cudaStream_t stream, cudaStream_t earlier, bool earlier_joins);
/// What streams may be given behind a launch. CUDA's own queues have room for 1024.
constexpr std::uint32_t most_behind_launch = 400;

/// Around a wait for the current device.
class DeviceWaitGuard {
public:
  DeviceWaitGuard();

private:
  HostWait wait_;
};

/// Around a wait for a stream.
class StreamWaitGuard {
public:
  explicit StreamWaitGuard(cudaStream_t stream);

private:
  HostWait wait_;
};

/// Around a copy that returns at its end. `to`, `from`: null where it is known not to be the
/// host's.
class CopyGuard {
public:
  CopyGuard(cudaStream_t stream, const void *to, const void *from, cudaMemcpyKind kind);

private:
  HostWait wait_;
};

/// Before a copy that returns at once if the host's memory is page-locked.
void before_async_copy(cudaStream_t stream, const void *to, const void *from, size_t bytes);
/// Before what waits for the whole device.
void before_free();
/// Before what gives a stream more to do.
void before_enqueue(cudaStream_t stream);

} // namespace gmpi::split
