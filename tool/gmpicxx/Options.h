// The command line of gmpicxx, read once: what is its own, what goes on to the compilers, and the
// inputs in the order in which the linker must see them.
#ifndef GMPI_TOOL_GMPICXX_OPTIONS_H
#define GMPI_TOOL_GMPICXX_OPTIONS_H

#include "Flags.h"
#include "llvm/Support/Error.h"
#include <optional>
#include <string>
#include <vector>

namespace gmpi {

enum class Language { Cuda, Cxx, C, None };

/// What the command line names besides flags. Linker flags (-lfoo) are inputs too: their place
/// among the objects matters.
struct Input {
  Language Source = Language::None; // None: for the linker as it is
  std::string Path;                 // of a source, object or library; empty for a linker flag
  std::optional<Flag> LinkFlag;
};

enum class Stage { Link, Compile, Preprocess, Dependencies };

/// -MD and its kin: a makefile rule that names the user's sources.
struct DependencyOptions {
  bool Write = false;
  std::string File;   // -MF
  std::string Target; // -MT, -MQ
};

struct Options {
  // gmpicxx's own
  std::string Device; // empty: the installation's best
  std::string Lower;
  std::string MpiWrapper;
  std::string ConfigFile;
  std::string ReportFile;
  std::optional<std::string> KeepFolder;
  bool Remarks = false;
  bool Verbose = false;
  bool DryRun = false;
  bool Help = false;
  bool Version = false;

  // what every compiler driver has
  Stage LastStage = Stage::Link;
  std::string StageFlag; // as the compiler wants it: -c, -E, -ptx …
  std::string Output;    // empty: the usual name
  DependencyOptions Dependencies;
  std::vector<Flag> Flags;
  std::vector<Input> Inputs;
};

/// Reads Arguments (response files already expanded, program name left out).
llvm::Expected<Options> parseOptions(llvm::ArrayRef<const char *> Arguments);

extern const char HelpText[];

} // namespace gmpi

#endif
