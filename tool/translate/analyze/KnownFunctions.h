// What the analysis knows of CUDA's own variables and functions, by name: which differ from thread
// to thread, which are barriers, which only compute. They are not looked into: their bodies are
// assembly, or another toolkit's small headers.
#pragma once

#include "MpiFunctions.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/Expr.h"
#include <optional>

namespace gmpi::translate {

enum class BuiltinVariable { ThreadIdx, BlockIdx, BlockDim, GridDim, WarpSize };

/// threadIdx and its kin, however the headers declare them.
std::optional<BuiltinVariable> builtinVariable(const clang::NamedDecl *Declaration);

enum class Effect {
  Unknown,  ///< its body says, if there is one
  Nothing,  ///< does nothing that matters here
  Computes, ///< its result depends on its arguments alone
  Varies,   ///< its result differs from thread to thread
  VariesByBlock,
  Uniform,      ///< its result is the same in the whole grid
  BlockMeets,   ///< barrier of the block; a result is the same in the block
  GridMeets,    ///< barrier of the grid
  Atomic,       ///< updates what its first argument (or the object) points to
  Loads,        ///< through its first argument
  LoadsAfresh,  ///< the same, past what other threads may write
  Stores,       ///< its second argument through its first
  CopiesMemory, ///< memcpy's arguments
  SetsMemory,   ///< memset's
  Rank,         ///< the thread's number in its group, see RankParts
};

struct KnownFunction {
  Effect What = Effect::Unknown;
  unsigned RankParts = 0; ///< the index parts that a rank stands for; none: not injective
};

/// A group, or a function about groups.
bool isInCooperativeGroups(const clang::Decl *Declaration);

/// By the callee, and by the type of the object it is called on or of its first argument.
KnownFunction classify(const clang::CallExpr *Call);

/// The row of the table for a function MPI_X; null for all others.
const MpiFunction *mpiFunctionOf(const clang::FunctionDecl *Function);

/// The use of each argument, in order: "value", "buffer_in" ... from functions.def.
llvm::SmallVector<llvm::StringRef, 12> argumentUses(const MpiFunction &Function);
/// The role of each argument: "dest", "comm" ...
llvm::SmallVector<llvm::StringRef, 12> argumentRoles(const MpiFunction &Function);

} // namespace gmpi::translate
