// What translated test programs include anyway, compiled once (test/CMakeLists.txt).
#include <cuda_runtime.h>

#include <mpi.h>

#include <gmpi/gmpi.hpp>

#include <cstdio>
#include <cstdlib>
#include <vector>
