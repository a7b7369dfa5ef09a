// CUDA programs include this by name; the cpu device has it all in one.
#pragma once

#include "cuda_runtime.h"
