// Which compiler understands which flag. Every flag of a gmpicxx command line falls in one class;
// the class says how it is spelled for the translator, for nvcc, for the host compiler and for the
// linker.
#ifndef GMPI_TOOL_GMPICXX_FLAGS_H
#define GMPI_TOOL_GMPICXX_FLAGS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace gmpi {

using Words = std::vector<std::string>;

enum class FlagClass {
  Preprocess, // -I -D -include …: for every compiler, and the translator
  Common,     // -O2 -g -w …: nvcc and the host compiler take the same spelling
  Host,       // -Wall -fopenmp …: the host compiler's; nvcc takes them behind -Xcompiler
  Nvcc,       // -arch=… -Xptxas …: nvcc's alone
  Link,       // -L -l -Wl,…: the linker's
};

/// One flag with its argument, as separate words where the user separated them.
struct Flag {
  FlagClass Class;
  Words Spelling;
};

/// How many words the flag Argument takes with it (0 or 1), and its class. Unknown flags are the
/// host compiler's: it knows best what to say about them.
struct FlagShape {
  FlagClass Class;
  unsigned ExtraWords;
};
FlagShape shapeOf(llvm::StringRef Argument);

/// Whether the flag decides if device code is compiled as a whole program or for nvcc's linker.
bool saysWhetherSeparate(const Flag &Flag);

/// Whether the flag says how many registers kernels may have, or that device code is to be
/// optimized so little that they need more.
bool saysRegisters(const Flag &Flag);

/// Whether the flag says for which GPUs device code is made.
bool saysArchitecture(const Flag &Flag);

/// Flags as nvcc takes them.
Words forNvcc(const Flag &Flag);

/// Flags as the host compiler takes them; an nvcc flag becomes its counterpart, or nothing.
Words forHost(const Flag &Flag);

/// Flags as the translator takes them: what decides how a file parses.
Words forTranslator(const Flag &Flag);

/// Words of a host compiler or linker command line, as nvcc takes them.
Words behindXcompiler(llvm::ArrayRef<std::string> HostWords);

} // namespace gmpi

#endif
