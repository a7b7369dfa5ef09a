// The command line and the file system that one pass gives to Clang: where the CUDA headers, the
// MPI library's headers and the translator's own come from.
#pragma once

#include "Parse.h"
#include "llvm/Support/VirtualFileSystem.h"
#include <map>

namespace gmpi::translate {

/// Folder of the translator's own headers, in the program's memory.
inline constexpr llvm::StringLiteral OwnHeaders = "/gmpi-translate/include";

/// The CUDA toolkit to parse with, or empty: the translator's own headers.
std::string toolkitFor(const Options &Options);

std::vector<std::string> driverArguments(const Options &Options, const CompilerFlags &Flags,
                                         Side Side);

/// To parse the output, at an absolute path, as Side sees it: with the runtime's headers, and what
/// stands beside the input.
std::vector<std::string> outputArguments(const Options &Options, const CompilerFlags &Flags,
                                         Side Side, const std::string &Output);

/// The real file system with the translator's own headers in it, and what else is in memory only, by
/// absolute path.
llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem>
fileSystem(const std::map<std::string, std::string> &InMemory = {});

} // namespace gmpi::translate
