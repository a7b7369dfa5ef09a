// The calls that one thread of the grid makes for itself and at which a kernel can be split all the
// same: while that thread waits for its call, the others run on to where the whole grid meets next.
//
//   if (first)
//     MPI_Recv(data, ...);     first suspends here, alone: what follows it runs alone, too
//   v[i] = f(i);
//   grid.sync();               the others suspend here, and first comes after them
//
// Invariant: at such a call, up to the grid's next meeting, the thread that makes it has nothing to
// do with others (no barrier, no warp function, no __shared__ or volatile memory); between the
// meetings around it, no thread may wait for another one in a loop, and only that one thread makes
// calls.
#pragma once

#include "../parse/Parse.h"
#include "GridPaths.h"
#include <map>

namespace gmpi::translate {

class SingleCalls {
public:
  SingleCalls(const Pass &Code, const ScopeResult &Scopes);

  /// Whether a kernel is cut at this call of a function's version.
  bool isCut(const clang::FunctionDecl *Written, unsigned Version, const ScopedCall &Call) const;
  bool any() const;
  /// Of a call of block or thread scope that is not cut: completes "it stays with the queue: ...".
  std::string whyNot(const clang::FunctionDecl *Written, unsigned Version,
                     const ScopedCall &Call) const;
  /// Leaves the calls of a function's version to the queue after all, and those that this keeps
  /// from being cut. True if any had been cut.
  bool giveUp(const clang::FunctionDecl *Written, unsigned Version, const std::string &Why);

private:
  struct Entry {
    const ScopedCall *Call;
    std::string Why; ///< not to be cut; empty where it is
  };
  Entry *find(const PathNode &Node);
  void settle();
  std::string judge(unsigned Node) const;
  std::string judgeArguments(const PathNode &Node) const;
  bool keepsRequestsInQueue();
  std::string whatFollows(unsigned Node) const;
  std::string whatIsBeside(unsigned Node) const;
  std::string whatIsLeftShared(unsigned Node) const;
  std::string at(const PathNode &Node) const;

  const Pass &Code;
  const ScopeResult &Scopes;
  std::map<CallKey, Entry> Entries;
  GridPaths Paths;
};

} // namespace gmpi::translate
