// The translated files of this program: each has a copy of the Context in constant memory.
#pragma once

#include <vector>

namespace gmpi::launch {

/// Symbols for cudaMemcpyToSymbol, in the order of registration.
const std::vector<const void *> &modules();

} // namespace gmpi::launch
