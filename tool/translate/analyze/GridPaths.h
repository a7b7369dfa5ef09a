// What threads may come by between two points at which the whole grid meets: a graph of all that a
// file's kernels run, reduced to what matters to a thread that is held up in a call of its own.
//
// Invariant: whatever path a thread can take is a path of the graph; each call of a function has a
// copy of its nodes. The grid's meetings have successors, but those who walk stop there.
#pragma once

#include "ScopeAnalysis.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <tuple>

namespace gmpi::translate {

/// One version of a function as written, and a call in it by the place of its name.
struct CallKey {
  const clang::FunctionDecl *Written;
  unsigned Version;
  clang::SourceLocation Loc;
  bool operator<(const CallKey &Other) const {
    return std::tie(Written, Version, Loc) < std::tie(Other.Written, Other.Version, Other.Loc);
  }
};

struct PathNode {
  enum Kind {
    Nothing,
    Meeting, ///< the whole grid meets
    Call,    ///< an MPI call of block or thread scope that waits for somebody
    Group,   ///< threads of a block wait for each other, or exchange something
    Poll,    ///< a look at memory that other threads write; not in a loop between two meetings
    Wait,    ///< threads may wait for any other thread
  } What = Nothing;
  bool Barrier = false;     ///< Group: of the block
  bool MayWrite = false;    ///< Group: to __shared__ memory
  std::string Text;         ///< Group, Poll, Wait: what it is, in the user's terms
  clang::SourceLocation At; ///< and where
  CallKey Key{};            ///< Call
  const clang::CallExpr *Expr = nullptr;
  const clang::FunctionDecl *In = nullptr; ///< Call: the instance
  std::vector<unsigned> Next, Before;
};

struct GridPaths {
  std::vector<PathNode> Nodes;
  std::vector<unsigned> Entries, Ends; ///< of kernels

  /// All that lies behind, or before, up to the next meetings; these, and `From`, included.
  /// `Barriers`: up to the block's barriers, too.
  std::set<unsigned> reach(llvm::ArrayRef<unsigned> From, std::vector<unsigned> PathNode::*Along,
                           bool Barriers = false) const;
  /// What follows the meetings (or barriers) before a node, or the kernel's begin.
  std::vector<unsigned> begins(unsigned Node, bool Barriers = false) const;
};

/// `Meets` says of an MPI call whether the whole grid meets there.
GridPaths findGridPaths(clang::ASTContext &Context, const ScopeResult &Scopes,
                        llvm::function_ref<bool(const ScopedCall &)> Meets);

/// A call that waits for somebody other than its caller.
bool waitsInQueue(const ScopedCall &Call);

/// What the compiler makes of a function: its instantiations or, where it is no template, itself.
std::vector<const clang::FunctionDecl *> instancesOf(const clang::FunctionDecl *Written);

} // namespace gmpi::translate
