// The project's own small CUDA headers (parse/include), carried in the program itself: enough for
// Clang to parse kernels and launches where there is no CUDA toolkit, or where the cpu device's
// headers will be used. They declare; nothing is ever compiled from them.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace gmpi::translate {

struct EmbeddedHeader {
  llvm::StringRef Name; ///< as it is included: "cuda_runtime.h"
  llvm::StringRef Text;
};

llvm::ArrayRef<EmbeddedHeader> embeddedHeaders();

} // namespace gmpi::translate
