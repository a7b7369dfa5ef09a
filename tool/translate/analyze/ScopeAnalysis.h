// Scope analysis: for every MPI call that a kernel reaches, the group of threads on whose behalf it
// is made (grid, block or thread), by a uniformity analysis over values and memory.
//
// Invariant: a call gets scope grid (block) only where its control flow and all its arguments were
// shown to be the same for all threads of the grid (block) that are still there, or where a
// `#pragma gmpi scope` says so. Whatever cannot be shown is an error that names the variable.
#pragma once

#include "clang/AST/ASTContext.h"
#include "clang/AST/Decl.h"
#include "clang/AST/Expr.h"
#include "clang/Basic/SourceLocation.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace gmpi::translate {

/// From the widest to the narrowest; also the uniformity lattice (a value that is the same in all
/// threads of the grid, of the block, or of one thread only), so that joining is taking the larger.
enum class Scope : unsigned char { Grid, Block, Thread };

inline Scope join(Scope A, Scope B) { return A < B ? B : A; }

/// "grid", "block" or "thread".
llvm::StringRef spelling(Scope S);

/// One `#pragma gmpi scope(...)`: it holds for the MPI calls of the statement that follows it.
struct ScopePragma {
  clang::SourceLocation Loc; ///< of the word `pragma` or anywhere on its line, in a file
  Scope Value;
};

/// Where the analysis tells of errors and notes. `Id` is one of Diagnostics.def, its severity and
/// text stand there; `Arguments` fill %0, %1 ... A note belongs to the error before it.
class ScopeDiagnosticSink {
public:
  virtual ~ScopeDiagnosticSink() = default;
  virtual void report(clang::SourceLocation Loc, llvm::StringRef Id,
                      llvm::ArrayRef<std::string> Arguments) = 0;
};

/// One MPI call of one specialisation.
struct ScopedCall {
  const clang::CallExpr *Call; ///< in one instantiation, where the function is a template
  clang::SourceLocation Loc;   ///< of the name MPI_X as spelled in its file: the key to edit by
  std::string Function;        ///< without MPI_: "Send"
  Scope Value;                 ///< `local` functions always have Thread: they synchronise nothing
  bool Local;                  ///< a `local` function of functions.def
  std::string Why; ///< one clause for the remark: "`dest` depends on threadIdx.x (line 7)"
  /// Of thread scope: the one thread of the grid that makes it, the same for equal texts; empty
  /// where it is not always one and the same thread.
  std::string Caller = {};
  /// Nonblocking: the local variable that the message is received into, if any.
  std::string ReceivesInto = {};
  /// Of grid scope: may be left to the next call, see FollowedCalls.h.
  bool Followed = false;
};

/// One call, in one specialisation, of a device function that reaches MPI.
struct CalleeUse {
  const clang::CallExpr *Call;       ///< in one instantiation
  clang::SourceLocation Loc;         ///< of the callee's name as spelled in its file
  const clang::FunctionDecl *Callee; ///< as written: the pattern, where it is a template
  unsigned Specialisation;           ///< index into its ScopedFunction's Specialisations
};

/// One version of a function: one scope for each of its MPI calls, and which version of each callee
/// it calls. The bodies of lambdas written in the function belong to it.
struct Specialisation {
  std::vector<ScopedCall> Calls;  ///< in source order
  std::vector<CalleeUse> Callees; ///< in source order; calls of lambdas are not listed
  /// Statements, by where they begin, behind which what has been left by then is made, see
  /// FollowedCalls.h.
  std::map<clang::SourceLocation, const clang::Stmt *> Makings = {};
};

/// A kernel or device function, as written (the pattern, where it is a template), that reaches MPI.
struct ScopedFunction {
  const clang::FunctionDecl *Function; ///< its definition
  bool Kernel;
  /// Kernels: the widest scope among the non-local calls reached; none if all are local.
  std::optional<Scope> Widest;
  /// Never empty; a kernel has exactly one. [0] is the version that stays in place.
  std::vector<Specialisation> Specialisations;
};

struct ScopeResult {
  std::vector<ScopedFunction> Functions; ///< in source order
  /// As written: functions with MPI that the device code of other files may call.
  std::set<const clang::FunctionDecl *> Exported;

  /// By where a call's name stands that may suspend a split kernel: where the local variables are
  /// declared that are the same there in the whole grid, in every instantiation and context.
  std::map<clang::SourceLocation, std::set<clang::SourceLocation>> Uniform;

  /// Of a function or any redeclaration or instantiation of it; null if it does not reach MPI.
  const ScopedFunction *find(const clang::FunctionDecl *Function) const;
};

/// Analyses every kernel of the translation unit that has a body (a template: each instantiation)
/// and reaches MPI. Functions that no kernel here reaches run nowhere, but are compiled: their
/// calls have the scope that a pragma says, else thread. Left out are templates that nothing here
/// instantiates, and, unless a kernel here reaches them, functions that other files' device code
/// may call (relocatable device code). Returns nothing if an error was reported.
std::optional<ScopeResult> analyzeScopes(clang::ASTContext &Context,
                                         llvm::ArrayRef<ScopePragma> Pragmas,
                                         ScopeDiagnosticSink &Sink);

} // namespace gmpi::translate
