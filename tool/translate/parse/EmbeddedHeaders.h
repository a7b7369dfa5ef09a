// Headers carried in the program itself.
//
//   cuda/...     the project's own small CUDA headers (parse/include): enough for Clang to parse kernels
//                and launches where there is no CUDA toolkit, or where the cpu device's headers will be
//                used. They declare; nothing is ever compiled from them.
//   runtime/...  the runtime's, which the output includes: it is parsed before it is written, wherever
//                the runtime will be.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace gmpi::translate {

struct EmbeddedHeader {
  llvm::StringRef Name; ///< "cuda/cuda_runtime.h"
  llvm::StringRef Text;
};

llvm::ArrayRef<EmbeddedHeader> embeddedHeaders();

} // namespace gmpi::translate
