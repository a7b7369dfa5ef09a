// The flags that CUDA defines as macros are macros in the translator's own CUDA headers and on the
// cpu device, too, with the same values: programs ask for them with #ifdef.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: %gmpi-translate --cuda-path=none in.cu -o out.cu && cmp in.cu out.cu
// RUN: %compile-cuda out.cu
// RUN: %gmpi-translate --device=cpu in.cu -o cpu.cu
// RUN: %compile-cpu cpu.cu

//--- in.cu
#if !defined cudaStreamDefault || !defined cudaStreamLegacy || !defined cudaStreamPerThread || \
    !defined cudaEventDefault || !defined cudaEventRecordDefault || !defined cudaEventWaitDefault || \
    !defined cudaHostAllocDefault || !defined cudaHostRegisterDefault || !defined cudaDeviceScheduleAuto || \
    !defined cudaOccupancyDefault
#error a flag is not a macro
#endif
#if cudaStreamDefault != 0 || cudaStreamNonBlocking != 1
#error cudaStream
#endif
#if cudaEventDefault != 0 || cudaEventBlockingSync != 1 || cudaEventDisableTiming != 2 || \
    cudaEventInterprocess != 4 || cudaEventRecordDefault != 0 || cudaEventWaitDefault != 0
#error cudaEvent
#endif
#if cudaHostAllocDefault != 0 || cudaHostAllocPortable != 1 || cudaHostAllocMapped != 2 || \
    cudaHostAllocWriteCombined != 4
#error cudaHostAlloc
#endif
#if cudaHostRegisterDefault != 0 || cudaHostRegisterPortable != 1 || cudaHostRegisterMapped != 2 || \
    cudaHostRegisterIoMemory != 4 || cudaHostRegisterReadOnly != 8
#error cudaHostRegister
#endif
#if cudaMemAttachGlobal != 1 || cudaMemAttachHost != 2 || cudaMemAttachSingle != 4
#error cudaMemAttach
#endif
#if cudaDeviceScheduleAuto != 0 || cudaDeviceScheduleSpin != 1 || cudaDeviceScheduleYield != 2 || \
    cudaDeviceScheduleBlockingSync != 4 || cudaDeviceScheduleMask != 7 || cudaDeviceMapHost != 8 || \
    cudaDeviceLmemResizeToMax != 16
#error cudaDevice
#endif
#if cudaOccupancyDefault != 0 || cudaOccupancyDisableCachingOverride != 1
#error cudaOccupancy
#endif
int main() {
  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
}
