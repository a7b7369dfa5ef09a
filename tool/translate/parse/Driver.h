// The command line and the file system that one pass gives to Clang: where the CUDA headers, the
// MPI library's headers and the translator's own come from.
#pragma once

#include "Parse.h"
#include "llvm/Support/VirtualFileSystem.h"

namespace gmpi::translate {

/// Folder of the translator's own headers, in the program's memory.
inline constexpr llvm::StringLiteral OwnHeaders = "/gmpi-translate/include";

/// The CUDA toolkit to parse with, or empty: the translator's own headers.
std::string toolkitFor(const Options &Options);

std::vector<std::string> driverArguments(const Options &Options, const CompilerFlags &Flags,
                                         Side Side);

/// The real file system with the translator's own headers in it.
llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> fileSystem();

} // namespace gmpi::translate
