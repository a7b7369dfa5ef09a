// `#line` directives, which make nvcc's messages and debuggers point at the user's file.
#pragma once

#include "../parse/SourceFiles.h"
#include <string>

namespace gmpi::translate {

/// The path as a C string literal.
std::string quoted(llvm::StringRef Path);

/// `#line 12 "dir/in.cu"` and a newline.
std::string lineDirective(const SourceFile &File, unsigned Line);

} // namespace gmpi::translate
