// CUDA's functions that take a kernel, from KernelFunctions.def.
#pragma once

#include "llvm/ADT/StringRef.h"

namespace gmpi::translate {

struct KernelFunction {
  llvm::StringRef Name;
  unsigned Argument; ///< which argument the kernel is
  bool Launches;     ///< else: asks or sets something
};

/// Null if Name is none of them.
const KernelFunction *findKernelFunction(llvm::StringRef Name);

} // namespace gmpi::translate
