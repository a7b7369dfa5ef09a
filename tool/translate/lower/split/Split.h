// Split kernels: the plan for each function that suspends, and its text.
//
//   __global__ void k(int n) { ... }
//
// gives, once more and behind the kernel,
//
//   template <int gmpi_resume> __global__ void k__segment(::gmpi::Segment gmpi_segment, int n) {
//     ::gmpi::Frame gmpi_frame(gmpi_segment); bool gmpi_re = gmpi_resume != 0; ... }
//
// and a device function f with calls that suspend gives f__segment, which returns true when it has.
#pragma once

#include "../../analyze/FramePlan.h"
#include "../Lowering.h"
#include "Body.h"

namespace gmpi::translate {

/// A function that suspends, in one version, as it is written out.
struct SplitVersion {
  const SplitFunction *Function = nullptr;
  FramePlan Plan;
  FrameSize Total;            ///< with the functions it calls
  std::string Text;           ///< of the whole function; empty where it was refused
  bool DynamicShared = false; ///< in it or in what it calls
  bool good() const { return !Text.empty(); }
};

/// The split versions of all functions of a file.
class SplitLowering {
public:
  explicit SplitLowering(Lowering &L);

  /// Plans and writes everything; device functions' versions are inserted behind them.
  void lower();
  /// A kernel's; null where it has none.
  const SplitVersion *find(const clang::FunctionDecl *Kernel) const;
  const std::map<const SplitFunction *, SplitVersion> &all() const { return Versions; }
  const SingleCalls &singles() const { return Singles; }
  /// Whether one thread may suspend alone anywhere in the file.
  bool anySingle() const { return AnySingle; }

private:
  struct Refused {
    clang::SourceLocation Loc;
    DiagId Id;
    std::vector<std::string> Arguments;
    clang::SourceLocation CallInLambda = {}; ///< for the note that follows
  };
  void makeAll();
  bool giveUpSingles();
  using VersionOf = std::pair<const ScopedFunction *, unsigned>;
  std::set<VersionOf> reachable(const ScopedFunction &F, unsigned Version) const;
  void refuse(clang::SourceLocation Loc, DiagId Id, std::vector<std::string> Arguments);
  SplitVersion &make(const SplitFunction &F);
  std::string functionText(const SplitVersion &V, Edits &Own, const Signature &S) const;
  std::string kernelText(const SplitVersion &V, Edits &Own, const Signature &S) const;
  std::string prologue(const SplitFunction &F, const FramePlan &Plan) const;
  bool usesQueue(const ScopedFunction &F, unsigned Version) const;
  bool checkSharedArguments(const SplitFunction &F, const FramePlan &Plan,
                            BodySplitter::Refusal Refuse);
  bool allCanSuspend();
  void refuseLambdas(const clang::FunctionDecl *Of, llvm::ArrayRef<CallInLambda> Calls);
  bool canBeMethod(const clang::FunctionDecl *F);
  void insertDeviceFunction(const SplitVersion &V, const Signature &S);

  Lowering &L;
  SingleCalls Singles;
  bool AnySingle = false;
  std::optional<SplitFunctions> Functions;
  std::map<const SplitFunction *, SplitVersion> Versions;
  std::vector<Refused> Refusals; ///< told once it is clear that they stay
};

} // namespace gmpi::translate
