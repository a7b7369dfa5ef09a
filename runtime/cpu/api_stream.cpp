// Streams, events and host functions.
#include "api_support.hpp"

using gmpi::cpu::Operation;
using gmpi::cpu::Recording;
using gmpi::cpu::result;
using gmpi::cpu::Streams;

cudaError_t cudaStreamCreate(cudaStream_t *stream) {
  return cudaStreamCreateWithPriority(stream, cudaStreamDefault, 0);
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags) {
  return cudaStreamCreateWithPriority(stream, flags, 0);
}
cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned flags, int priority) {
  GMPI_CPU_API_BEGIN;
  if (!stream || flags > cudaStreamNonBlocking)
    return result(cudaErrorInvalidValue);
  *stream = Streams::get().create(flags != cudaStreamNonBlocking, priority);
  return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  if (stream == nullptr || stream == cudaStreamLegacy || stream == cudaStreamPerThread)
    return result(cudaErrorInvalidResourceHandle);
  GMPI_CPU_API_STREAM;
  Streams::get().destroy(stream);
  return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  GMPI_CPU_API_STREAM;
  Streams::get().synchronize(stream);
  return cudaSuccess;
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
  GMPI_CPU_API_STREAM;
  return result(Streams::get().idle(stream) ? cudaSuccess : cudaErrorNotReady);
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  GMPI_CPU_API_STREAM;
  if (!event)
    return result(cudaErrorInvalidResourceHandle);
  Streams::get().wait_event(stream, event);
  return cudaSuccess;
}

namespace gmpi::cpu {

std::shared_ptr<void> hold_stream(cudaStream_t stream) {
  const cudaStream_t resolved = Streams::get().resolve(stream);
  if (!resolved)
    return nullptr;
  auto hold = std::make_shared<Recording>();
  Streams::get().wait(resolved, hold);
  return hold;
}

void release_stream(const std::shared_ptr<void> &hold) {
  Streams::get().set(*std::static_pointer_cast<Recording>(hold));
}

} // namespace gmpi::cpu

cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned *flags) {
  GMPI_CPU_API_STREAM;
  *flags = stream->blocking ? cudaStreamDefault : cudaStreamNonBlocking;
  return cudaSuccess;
}

cudaError_t cudaStreamGetPriority(cudaStream_t stream, int *priority) {
  GMPI_CPU_API_STREAM;
  *priority = stream->priority;
  return cudaSuccess;
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void *data) {
  GMPI_CPU_API_STREAM;
  if (!function)
    return result(cudaErrorInvalidValue);
  Operation operation;
  operation.task = [=] { function(data); };
  operation.host_function = true;
  Streams::get().enqueue(stream, std::move(operation));
  return cudaSuccess;
}

cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void *data,
                                  unsigned flags) {
  const cudaStream_t handle = stream;
  GMPI_CPU_API_STREAM;
  if (!callback || flags != 0)
    return result(cudaErrorInvalidValue);
  Operation operation;
  operation.task = [=] { callback(handle, cudaSuccess, data); };
  operation.host_function = true;
  Streams::get().enqueue(stream, std::move(operation));
  return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t *event, unsigned flags) {
  GMPI_CPU_API_BEGIN;
  if (!event)
    return result(cudaErrorInvalidValue);
  if (flags & cudaEventInterprocess)
    return result(cudaErrorNotSupported);
  *event = new CUevent_st{flags, nullptr};
  return cudaSuccess;
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags) {
  return cudaEventCreate(event, flags);
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  GMPI_CPU_API_BEGIN;
  if (!event)
    return result(cudaErrorInvalidResourceHandle);
  delete event; // who waits for its recording shares that
  return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  GMPI_CPU_API_STREAM;
  if (!event)
    return result(cudaErrorInvalidResourceHandle);
  Streams::get().record(event, stream);
  return cudaSuccess;
}
cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned) {
  return cudaEventRecord(event, stream);
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  GMPI_CPU_API_BEGIN;
  if (!event)
    return result(cudaErrorInvalidResourceHandle);
  const std::shared_ptr<Recording> latest = Streams::get().latest(event);
  return result(!latest || Streams::get().done(*latest) ? cudaSuccess : cudaErrorNotReady);
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  GMPI_CPU_API_BEGIN;
  if (!event)
    return result(cudaErrorInvalidResourceHandle);
  if (const std::shared_ptr<Recording> latest = Streams::get().latest(event))
    Streams::get().synchronize(*latest);
  return cudaSuccess;
}

cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t end) {
  GMPI_CPU_API_BEGIN;
  if (!start || !end || (start->flags | end->flags) & cudaEventDisableTiming)
    return result(cudaErrorInvalidResourceHandle);
  Streams &streams = Streams::get();
  const std::shared_ptr<Recording> from = streams.latest(start), to = streams.latest(end);
  if (!from || !to)
    return result(cudaErrorInvalidResourceHandle);
  if (!streams.done(*from) || !streams.done(*to))
    return result(cudaErrorNotReady);
  *milliseconds = std::chrono::duration<float, std::milli>(to->time - from->time).count();
  return cudaSuccess;
}
