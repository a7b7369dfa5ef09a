// Which functions reach an MPI call, directly or through the functions they call; which meet at a
// barrier; which parts of a thread's index they use. By the calls that stand in the bodies.
#pragma once

#include "clang/AST/ASTContext.h"
#include "clang/AST/Expr.h"
#include <map>
#include <set>
#include <vector>

namespace gmpi::translate {

/// What stands in one function's body.
struct BodyFacts {
  std::vector<const clang::FunctionDecl *> Callees; ///< definitions where there are any
  std::vector<const clang::CallExpr *> Indirect;    ///< through pointers, or of virtual functions
  bool CallsMpi = false;                            ///< any function of functions.def
  bool Meets = false; ///< a barrier, or an MPI call that is not `local`
  unsigned UsedParts = 0;
};

class MpiReach {
public:
  explicit MpiReach(clang::ASTContext &Context) : Context(Context) {}

  /// By calls of its name, or perhaps through a pointer or a virtual function.
  bool reachesMpi(const clang::FunctionDecl *Function);
  /// Whether executing the statement may call MPI (not `local`) or a barrier.
  bool maySynchronise(const clang::Stmt *Statement);
  /// IndexParts of threadIdx and blockIdx that the user's code names, here or in callees.
  unsigned usedParts(const clang::FunctionDecl *Function);
  /// A function that reaches MPI and that this indirect call may call: of its type, with its
  /// address taken somewhere; or, for a call of a virtual function, that or one that overrides it.
  /// Null if there is none.
  const clang::FunctionDecl *indirectTarget(const clang::CallExpr *Call);

private:
  const BodyFacts &factsOf(const clang::FunctionDecl *Function);
  std::set<const clang::FunctionDecl *> allReached(const clang::FunctionDecl *Function);
  bool reachesByName(const clang::FunctionDecl *Function);
  void collectIndirectTargets();

  clang::ASTContext &Context;
  std::map<const clang::FunctionDecl *, BodyFacts> Known;
  std::map<const clang::FunctionDecl *, bool> Reaches, ReachesByName, Meets;
  bool Collected = false;
  std::vector<const clang::FunctionDecl *> AddressTaken;
  std::vector<const clang::CXXMethodDecl *> VirtualMethods;
};

/// Whether the call may be of a function that overrides its direct callee.
bool isVirtualCall(const clang::CallExpr *Call);

/// The function as written: the pattern of a template's instantiation, its definition if there is
/// one.
const clang::FunctionDecl *asWritten(const clang::FunctionDecl *Function);
/// With a body, or null.
const clang::FunctionDecl *definitionOf(const clang::FunctionDecl *Function);

} // namespace gmpi::translate
