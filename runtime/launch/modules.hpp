// The translated files of this program: each has a copy of the Context in constant memory.
#pragma once

#include <vector>

namespace gmpi::launch {

/// Symbols for cudaMemcpyToSymbol, in the order of registration.
const std::vector<const void *> &modules();

/// Does nothing by itself: calling it links module_loading.cpp, which acts before main().
void ensure_modules_are_loaded_at_start();

} // namespace gmpi::launch
