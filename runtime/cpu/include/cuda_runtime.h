// The CUDA runtime API and CUDA's built-ins on the cpu device, for programs that gmpi-translate
// wrote with --device=cpu: compiled by the host compiler with -include cuda_runtime.h.
#pragma once

#include "gmpi/cpu.hpp"
#include "gmpi/cpu/api.hpp"
#include "gmpi/cpu/atomics.hpp"
#include "gmpi/cpu/builtins.hpp"
#include "gmpi/cpu/launch.hpp"
#include "gmpi/cpu/math.hpp"
#include "gmpi/cpu/types.hpp"
#include "gmpi/cpu/warp.hpp"

#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <cstring>
