// Which lowering carries a launch of a kernel that may have several.
#pragma once

#include "launch.hpp"

namespace gmpi::launch {

enum class Lowering { queue, split };

/// The one that GMPI_LOWER asks for, or the one that the kernel has. False where both may be: queue
/// is to be taken where the grid is resident as a whole, split elsewhere.
bool is_decided(const KernelEntry &entry, Lowering &lowering);

/// Says, once a kernel, that it is split because its grid does not fit.
void say_split(const KernelEntry &entry, unsigned long long wanted, unsigned long long possible);

} // namespace gmpi::launch
