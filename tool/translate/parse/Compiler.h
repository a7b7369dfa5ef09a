// A CompilerInstance of Clang's that reads what a command line says, from a file system that may be
// partly in memory. For the passes over the input, and for the lint of the output.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/IntrusiveRefCntPtr.h"
#include <memory>
#include <string>

namespace clang {
class CompilerInstance;
class DiagnosticConsumer;
} // namespace clang
namespace llvm::vfs {
class FileSystem;
} // namespace llvm::vfs

namespace gmpi::translate {

struct Compiler {
  std::unique_ptr<clang::CompilerInstance> Instance; ///< null: the consumer was told why
  std::string MainText; ///< the main file as Files has it; Clang may get a copy that it can parse
};

/// The main file is the last of Words. Consumer is not owned.
Compiler createCompiler(llvm::ArrayRef<std::string> Words,
                        llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> Files,
                        clang::DiagnosticConsumer &Consumer);

} // namespace gmpi::translate
