// CUDA as gmpi-translate parses it where no toolkit is read: types and host functions are the cpu
// device's own, what kernels may use is declared here.
#pragma once
#pragma GCC system_header

// As nvcc, Clang with a toolkit's headers, and the cpu device's do.
#ifndef __CUDACC__
#define __CUDACC__ 1
#endif

#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Device overloads of <math.h>; before <cmath>, whose constexpr functions would win otherwise.
#include <__clang_cuda_math_forward_declares.h>

#include "gmpi/cpu/qualifiers.hpp"

struct uint3;
struct dim3;
#include <__clang_cuda_builtin_vars.h>

#include "gmpi/cpu/api.hpp"
#include "gmpi/parse/atomics.hpp"
#include "gmpi/parse/built_ins.hpp"
#include "gmpi/parse/launch.hpp"
#include "gmpi/parse/math.hpp"
