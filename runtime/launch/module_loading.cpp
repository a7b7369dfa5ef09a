// CUDA loads a kernel when it is first launched, and may wait for all running kernels to end before
// it does: for ever, if one of them waits for a message that the new kernel would send. So modules
// are loaded when the program starts. CUDA reads the variable when it is first used, after this.
#include "modules.hpp"

#include <cstdlib>

namespace gmpi::launch {

[[gnu::constructor]] static void load_modules_at_start() {
  setenv("CUDA_MODULE_LOADING", "EAGER", 0);
}

void ensure_modules_are_loaded_at_start() {}

} // namespace gmpi::launch
