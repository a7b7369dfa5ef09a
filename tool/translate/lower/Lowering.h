// What the steps of the queue lowering share: both passes, what was found in them, and the edits.
#pragma once

#include "../Options.h"
#include "../analyze/SplitFunctions.h"
#include "../emit/Edits.h"
#include "../model/Model.h"
#include "Signature.h"
#include <functional>
#include <map>
#include <set>

namespace gmpi::translate {

/// Numbers of source files as call sites carry them: 28 bits of a hash of the path.
class FileNumbers {
public:
  unsigned of(const SourceFile &File);
  /// `0x1f2e3d4`
  std::string text(const SourceFile &File);
  /// In order of inclusion.
  std::map<unsigned, const SourceFile *> used() const;

private:
  std::map<const SourceFile *, unsigned> Numbers;
  std::set<unsigned> Taken;
};

/// Names that the generated text gives to the parts of one kernel.
struct KernelNames {
  std::string Kernel; ///< the user's
  std::string Suffix; ///< tells overloads apart where their names must differ; often empty

  std::string queue() const { return Kernel + "__queue"; }
  std::string launch() const { return Kernel + "__launch"; }
  std::string pointer() const { return Kernel + "__pointer"; }
  std::string split() const { return Kernel + "__split" + Suffix; }
  std::string info() const { return Kernel + "__info" + Suffix; }
  std::string object() const { return Kernel + "__kernel" + Suffix; }
};

class SplitLowering;

struct Lowering {
  const Options &Settings;
  const Pass &Code; ///< the pass whose view of device code counts: the GPU's, for cpu the host's
  const Pass &Host; ///< the pass whose view of host code counts
  const Model &CodeModel;
  const Model &HostModel;
  const ScopeResult &Scopes;
  Edits &Changes;
  FileNumbers Numbers;
  /// Kernels that have a `__launch` function, by Kernel::Key; those with MPI have a `__queue` too.
  std::map<Position, KernelNames> Launchable;
  std::set<Position> WithMpi;
  const SplitLowering *Split = nullptr; ///< where that lowering is asked for

  /// Whether a kernel with MPI has launch bounds that leave it fewer registers than the functions
  /// behind its calls take where nothing bounds them.
  bool HasFewRegisters = false;

  /// Kernels whose text has been replaced as a whole.
  std::vector<Span> Whole = {};
  bool replacedWhole(const Position &At) const;

  /// A kernel or function cannot be split: an error, or a warning where there is the queue.
  void refuseSplit(clang::SourceLocation Loc, DiagId Id, llvm::ArrayRef<std::string> Arguments);
  bool isCpu() const { return Settings.Target == Device::Cpu; }
  /// Whether the function is, or stands in, a template that nothing here instantiates, if no kernel
  /// of this file reaches it.
  bool staysIfUnreached(const clang::FunctionDecl *Function) const;
  /// `{0x1f2e3d4, 12}`
  std::string site(const Position &Where);
};

/// Rewrites kernels: `__queue` in place, then what launches and registers it.
void lowerKernels(Lowering &L);
/// What becomes of a split function's calls, pragmas and shared variables, but for the calls that
/// suspend.
std::vector<std::pair<Span, std::string>> callEdits(Lowering &L, const SplitFunction &F);
/// Rewrites MPI calls, and makes the copies of device functions reached under several scopes.
void lowerCalls(Lowering &L);
/// Rewrites launches, and references to kernels.
void lowerLaunches(Lowering &L);
/// What only the cpu device needs.
void lowerForCpu(Lowering &L);

/// The offset after the next `(`; what comes before it may only be space, comments and `)`. The end
/// of the text if it is something else: a macro's.
unsigned afterOpeningParenthesis(const SourceFile &File, unsigned Offset);

/// Puts generated lines after Where's line where nothing else stands on it, else right there, and
/// returns to the user's numbering.
void insertLinesAfter(Lowering &L, const Position &Where, const std::string &Lines);

} // namespace gmpi::translate
