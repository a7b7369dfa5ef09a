// Watches the preprocessor: which files it reads, how they include each other, and the project's
// pragmas. Gives Clang the copy it can parse of files whose launches have braces.
#pragma once

#include "Parse.h"

namespace clang {
class CompilerInstance;
} // namespace clang

namespace gmpi::translate {

/// To be called between BeginSourceFile and Execute. The references must outlive the pass. MainText
/// is the main file as on disk.
void watchSources(clang::CompilerInstance &Compiler, const Options &Options,
                  llvm::StringRef MainText, SourceFiles &Files, Diagnostics &Messages,
                  std::vector<Inclusion> &Inclusions, std::vector<ScopePragma> &Pragmas);

} // namespace gmpi::translate
