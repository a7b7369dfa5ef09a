// Where functions suspend when their kernels are split: the grid-scope MPI calls, the grid's
// barriers, the calls that one thread makes for itself where that is possible (SingleCalls), and
// the calls of device functions that suspend themselves.
//
// Invariant: a function's resume points are numbered from 1, in source order. A call of a function
// with N resume points takes N numbers, so a number says where in the whole chain of calls a kernel
// goes on.
#pragma once

#include "../Diagnostics.h"
#include "../MpiFunctions.h"
#include "../model/Locations.h"
#include "SingleCalls.h"
#include <map>
#include <memory>
#include <set>

namespace gmpi::translate {

struct SplitFunction;

struct SuspensionPoint {
  const clang::CallExpr *Call; ///< as written
  Span Name;                   ///< of the callee, without qualifiers
  /// One of the three; none of them: the grid's barrier.
  const MpiFunction *Mpi = nullptr;
  const SplitFunction *Callee = nullptr;
  bool Single = false;          ///< Mpi: one thread suspends there, alone
  unsigned First = 0, Last = 0; ///< its resume points
};

/// A grid-scope MPI call, which a lambda cannot suspend for.
struct CallInLambda {
  clang::SourceLocation Lambda, Call;
};

/// One version of a function that suspends.
struct SplitFunction {
  const clang::FunctionDecl *Written;
  /// What the compiler makes of it: its instantiations or, where it is no template, itself.
  std::vector<const clang::FunctionDecl *> Instances;
  const ScopedFunction *Scoped =
      nullptr;          ///< null: it makes no MPI call, but meets at the grid's barrier
  unsigned Version = 0; ///< index into its ScopedFunction's Specialisations
  bool Kernel = false;
  std::vector<SuspensionPoint> Points; ///< in source order
  /// It suspends for more than barriers.
  bool CallsMpi = false;
  /// One thread may suspend alone, in it or in what it calls.
  bool Single = false;
  /// The whole grid may.
  bool Together = false;
  /// A template that calls itself with other arguments, maybe by way of others.
  bool Recursive = false;
  std::vector<CallInLambda> InLambdas;
  /// Calls that are not written in it: in a default argument, or a member's initializer.
  std::vector<clang::SourceLocation> Elsewhere;
  /// Barriers of the grid that are no suspension point.
  std::vector<clang::SourceLocation> OtherBarriers;
  /// Calls that a macro makes of one that is written once.
  std::vector<clang::SourceLocation> Repeated;

  /// There is something to suspend for, be it where that cannot be.
  bool suspends() const {
    return !Points.empty() || !InLambdas.empty() || !Elsewhere.empty() || Recursive;
  }
  unsigned resumePoints() const { return Points.empty() ? 0 : Points.back().Last; }
  /// One thread may suspend alone there.
  static bool single(const SuspensionPoint &Point) {
    return Point.Single || (Point.Callee && Point.Callee->Single);
  }
};

/// Whether a kernel is cut at this call: it is made for the whole grid, and comes back.
bool suspendsFor(const ScopedCall &Call);

class SplitFunctions {
public:
  SplitFunctions(const Pass &Code, const ScopeResult &Scopes, const SingleCalls &Singles)
      : Code(Code), Scopes(Scopes), Singles(Singles) {}

  /// Null where the function has nothing to suspend for. Written: its definition.
  const SplitFunction *of(const clang::FunctionDecl *Written, unsigned Version);

private:
  friend class PointFinder;
  const SplitFunction *withBarrier(const clang::CallExpr *Call);
  bool reachesBarrier(const clang::CallExpr *Call, std::set<const clang::FunctionDecl *> &Seen);
  void findOthers(SplitFunction &F);
  void noteRecursion();

  const Pass &Code;
  const ScopeResult &Scopes;
  const SingleCalls &Singles;
  using Key = std::pair<const clang::FunctionDecl *, unsigned>;
  std::map<Key, std::unique_ptr<SplitFunction>> Known;
  std::vector<Key> Making; ///< each called by the one before it; in Known they are null yet
  std::set<Key> Recursive;
};

} // namespace gmpi::translate
