// What launches.cu and launches_elsewhere.cu know of each other.
#pragma once

__global__ void defined_elsewhere(int *data, int value);
__global__ void launched_elsewhere(int *data, int value);
extern "C" __global__ void with_c_linkage(int *data, int value);
__global__ void without_mpi(int *data, int value);

void launch_elsewhere(int *data, int value);
using AnyKernel = void (*)(int *, int);
AnyKernel kernel_from_elsewhere();
