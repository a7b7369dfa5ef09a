// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: not %gmpi-translate --device=cpu in.cu -o out.cu 2>&1 | FileCheck --implicit-check-not=error: check

//--- in.cu
#include <cub/cub.cuh>
#include <thrust/device_vector.h>
//--- check
CHECK: in.cu:1:10: error: 'cub/cub.cuh' is device code that the cpu device does not have [gmpi-cpu-header]
CHECK: note: translate for --device=cuda, or keep it behind #ifndef GMPI_DEVICE_CPU
CHECK: in.cu:2:10: error: 'thrust/device_vector.h' is device code that the cpu device does not have [gmpi-cpu-header]
