// KernelFunctions.def as a table.
#include "KernelFunctions.h"

namespace gmpi::translate {

namespace {

constexpr bool launch = true, query = false;

const KernelFunction Table[] = {
#define GMPI_KERNEL_FUNCTION(name, argument, use) {#name, argument, use},
#include "KernelFunctions.def"
};

} // namespace

const KernelFunction *findKernelFunction(llvm::StringRef Name) {
  for (const KernelFunction &F : Table)
    if (F.Name == Name)
      return &F;
  return nullptr;
}

} // namespace gmpi::translate
