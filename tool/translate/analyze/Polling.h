// Places where a thread looks at memory for what another thread writes there, or makes others see
// what it wrote itself: where such a place is passed again and again, threads may wait for each
// other.
//
// Invariant: found are volatile accesses, atomic operations whose result is used, loads past the
// caches, fences and sleeps (a plain load need not see what another thread writes), and conditions
// of loops that read memory and nothing that the loop itself changes.
#pragma once

#include "clang/AST/Expr.h"
#include <map>
#include <string>

namespace clang {
class FunctionDecl;
}

namespace gmpi::translate {

struct Polling {
  std::string Text; ///< what it does, in the user's terms
  clang::SourceLocation At;
};

/// By the statement or expression that looks. Function: not a template's pattern.
std::map<const clang::Stmt *, Polling> findPolling(const clang::FunctionDecl *Function);

/// Reads or writes a volatile object.
bool isVolatileAccess(const clang::Stmt *S);

} // namespace gmpi::translate
