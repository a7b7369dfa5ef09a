# gmpi_bench_settings(target device): what gmpi-bench needs beyond other programs. Also used where
# translated sources are compiled (test/gpu). `-DNCCL_ROOT=DIR` and `-DNVSHMEM_ROOT=DIR` say where
# these are.

option(GMPI_BENCH_LAUNCHES_FROM_KERNELS
       "gmpi-bench measures these, and then does not run under CUDA's Multi-Process Service" ON)

function(gmpi_bench_settings target device)
  target_compile_definitions(
    ${target} PRIVATE "GMPI_BENCH_PLOT=\"${CMAKE_CURRENT_FUNCTION_LIST_DIR}/plot.py\"")
  if(NOT device STREQUAL "cuda")
    target_compile_options(${target} PRIVATE -Wno-unknown-pragmas) # nvcc's `unroll`
    return()
  endif()
  set_target_properties(${target} PROPERTIES CUDA_STANDARD 17)
  if(NOT GMPI_BENCH_LAUNCHES_FROM_KERNELS)
    target_compile_definitions(${target} PRIVATE GMPI_BENCH_NO_LAUNCHES_FROM_KERNELS)
  endif()

  # A wheel's lib/ has the library with its version alone.
  find_path(NCCL_INCLUDE_DIR nccl.h HINTS "${NCCL_ROOT}/include")
  find_library(NCCL_LIBRARY NAMES nccl libnccl.so.2 HINTS "${NCCL_ROOT}/lib")
  if(NCCL_INCLUDE_DIR AND NCCL_LIBRARY)
    target_compile_definitions(${target} PRIVATE GMPI_BENCH_NCCL)
    target_include_directories(${target} PRIVATE "${NCCL_INCLUDE_DIR}")
    target_link_libraries(${target} PRIVATE "${NCCL_LIBRARY}")
  else()
    message(STATUS "gmpi-bench: NCCL was not found (-DNCCL_ROOT=DIR): its columns stay empty.")
  endif()
  _gmpi_bench_nvshmem(${target})
endfunction()

# NVSHMEM's device code is linked in a library of its own: the program's kernels stay what they are.
function(_gmpi_bench_nvshmem target)
  find_path(NVSHMEM_INCLUDE_DIR nvshmemx.h HINTS "${NVSHMEM_ROOT}/include")
  find_library(NVSHMEM_HOST_LIBRARY NAMES nvshmem_host libnvshmem_host.so.3
               HINTS "${NVSHMEM_ROOT}/lib")
  find_library(NVSHMEM_DEVICE_LIBRARY NAMES nvshmem_device HINTS "${NVSHMEM_ROOT}/lib")
  if(NOT NVSHMEM_INCLUDE_DIR OR NOT NVSHMEM_HOST_LIBRARY OR NOT NVSHMEM_DEVICE_LIBRARY)
    message(STATUS
            "gmpi-bench: NVSHMEM was not found (-DNVSHMEM_ROOT=DIR): its columns stay empty.")
    return()
  endif()
  add_library(${target}_nvshmem SHARED EXCLUDE_FROM_ALL
              "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/nvshmem/peer.cu")
  set_target_properties(${target}_nvshmem PROPERTIES
                        CUDA_STANDARD 17 CUDA_SEPARABLE_COMPILATION ON)
  target_compile_definitions(${target}_nvshmem PUBLIC GMPI_BENCH_NVSHMEM)
  target_include_directories(${target}_nvshmem SYSTEM PRIVATE "${NVSHMEM_INCLUDE_DIR}")
  target_link_libraries(${target}_nvshmem PRIVATE Gmpi::mpi "${NVSHMEM_DEVICE_LIBRARY}"
                                                  "${NVSHMEM_HOST_LIBRARY}")
  target_link_libraries(${target} PRIVATE ${target}_nvshmem)
endfunction()
