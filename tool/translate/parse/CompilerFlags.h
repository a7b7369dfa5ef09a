// From the flags a build gives to nvcc, Clang or a host compiler to those that matter to a parser.
#pragma once

#include "../Diagnostics.h"
#include "llvm/ADT/ArrayRef.h"
#include <optional>
#include <string>
#include <vector>

namespace gmpi::translate {

struct CompilerFlags {
  std::vector<std::string> Words;         ///< for Clang's driver
  std::vector<std::string> Architectures; ///< sm_90 ..., in order, without repetition
  bool RelocatableDeviceCode = false;     ///< device functions may be called from other files
};

/// Sorts the words by CompilerFlags.def. A word without a dash is a mistake, unless `Command` says
/// that this is a whole command line, where it names a source or an object.
std::optional<CompilerFlags> adjustFlags(llvm::ArrayRef<std::string> Words, bool Command,
                                         DiagnosticLog &Log);

/// The flags for `File` in Folder/compile_commands.json, relative paths made absolute.
std::optional<CompilerFlags> flagsFromDatabase(llvm::StringRef Folder, llvm::StringRef File,
                                               DiagnosticLog &Log);

} // namespace gmpi::translate
