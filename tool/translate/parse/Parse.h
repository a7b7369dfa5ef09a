// One parse of the input by Clang, as the host or as the GPU sees it.
//
// Both passes matter: the host's lacks what stands under __CUDA_ARCH__, the GPU's lacks what stands
// under its negation. Their facts meet in Positions of the same SourceFiles.
#pragma once

#include "../Diagnostics.h"
#include "../Options.h"
#include "../analyze/ScopeAnalysis.h"
#include "CompilerFlags.h"
#include "SourceFiles.h"
#include <memory>
#include <vector>

namespace clang {
class ASTContext;
class Preprocessor;
} // namespace clang

namespace gmpi::translate {

enum class Side { Host, Gpu };

/// One #include directive that was followed.
struct Inclusion {
  const SourceFile *From;
  Span Name;     ///< with its quotes or brackets; invalid where a macro gives it
  unsigned Line; ///< of the directive
  const SourceFile *To;
  bool Beside; ///< "quoted", and found in the folder of the file that includes it
};

class Pass {
public:
  virtual ~Pass();

  Side side() const { return ParsedSide; }
  virtual clang::ASTContext &context() const = 0;
  virtual clang::Preprocessor &preprocessor() const = 0;
  clang::SourceManager &sources() const;
  Diagnostics &diagnostics() const { return *Messages; }

  llvm::ArrayRef<Inclusion> inclusions() const { return Inclusions; }
  llvm::ArrayRef<ScopePragma> pragmas() const { return Pragmas; }

  /// Of a location in a file (not in a macro); invalid for files that are nobody's.
  Position position(clang::SourceLocation FileLoc) const;

protected:
  Side ParsedSide = Side::Host;
  const SourceFiles *Files = nullptr;
  std::unique_ptr<Diagnostics> Messages;
  std::vector<Inclusion> Inclusions;
  std::vector<ScopePragma> Pragmas;
};

/// Null if the input does not parse; messages are out already then.
std::unique_ptr<Pass> parse(const Options &Options, const CompilerFlags &Flags, Side Side,
                            SourceFiles &Files, DiagnosticLog &Log);

} // namespace gmpi::translate
