// What one pass found in the user's files: kernels, launches, references to kernels, MPI calls in
// device code. Templates are seen as written; what their instantiations add is merged by place.
#pragma once

#include "../analyze/MpiReach.h"
#include "Locations.h"
#include "llvm/ADT/DenseMap.h"
#include <map>
#include <set>
#include <string>
#include <vector>

namespace clang {
class CallExpr;
class CUDAKernelCallExpr;
class Expr;
class FunctionDecl;
class SourceManager;
class TagDecl;
class VarDecl;
} // namespace clang

namespace gmpi::translate {

/// A `__global__` function that is declared in the user's files.
struct Kernel {
  const clang::FunctionDecl *First = nullptr;      ///< first declaration
  const clang::FunctionDecl *Definition = nullptr; ///< as written; null if its body is elsewhere
  std::vector<const clang::FunctionDecl *> ExplicitInstantiations;
  bool Specialized = false; ///< has explicit or partial specializations
  Position Key;             ///< of the first declaration's name: the same in both passes
};

/// `kernel<<<...>>>(...)` as written.
struct LaunchSite {
  const clang::CUDAKernelCallExpr *Call;
  const clang::FunctionDecl *Within; ///< the function it stands in; null outside of functions
  std::set<Position> Kernels;        ///< those it may name
  bool Named = false;                ///< it names a kernel, rather than computing a pointer
};

/// A kernel's name anywhere but before `<<<`.
struct KernelReference {
  const clang::Expr *Name; ///< DeclRefExpr or UnresolvedLookupExpr
  std::set<Position> Kernels;
  const clang::CallExpr *Argument = nullptr; ///< the innermost CUDA API call it is an argument of
  bool AddressOf = false;                    ///< `&kernel`
  clang::SourceRange Whole;                  ///< with the `&`
  bool InTemplateArgument = false;
};

/// A call of one of CUDA's functions that take a kernel (lower/KernelFunctions.def).
struct KernelApiCall {
  const clang::CallExpr *Call;
  std::string Function;
  const clang::FunctionDecl *Within;
};

/// A call of an MPI function in device code, as written.
struct MpiCall {
  const clang::CallExpr *Call;
  clang::SourceLocation NameLoc;
  std::string Function; ///< "MPI_Send"
  const clang::FunctionDecl *Within;
};

/// `__shared__ T a, b;` as written: one declaration statement.
struct SharedDeclaration {
  std::vector<const clang::VarDecl *> Variables;
  const clang::TagDecl *Type = nullptr; ///< where the statement defines it too
  clang::SourceRange Range;
  bool InFunction = true;
};

struct Model {
  std::map<Position, Kernel> Kernels; ///< by Key
  std::vector<LaunchSite> Launches;
  std::vector<KernelReference> References;
  std::vector<KernelApiCall> ApiCalls;
  std::vector<MpiCall> MpiCalls;
  std::vector<SharedDeclaration> Shared;
  /// Inline PTX in device code, and in which function.
  std::vector<std::pair<clang::SourceLocation, const clang::FunctionDecl *>> Assembly;
  std::vector<const clang::FunctionDecl *> Functions; ///< defined, kernels left out

  const Kernel *find(const Position &Key) const {
    auto Found = Kernels.find(Key);
    return Found == Kernels.end() ? nullptr : &Found->second;
  }
};

/// Tells of what cannot be rewritten wherever it stands (an MPI call in a macro's body, a function
/// that kernels do not have).
Model buildModel(const Pass &P);

/// Where the name itself stands in an expression that names a function, its qualifiers left out.
clang::SourceLocation nameLocation(const clang::Expr *Name);
/// The same of what a call names; of macros' arguments, where they are written.
clang::SourceLocation nameLocation(const clang::CallExpr *Call,
                                   const clang::SourceManager &Sources);
/// Whether device code may run this function: kernels, __device__ functions, lambdas within them.
bool isDeviceCode(const clang::FunctionDecl *Function);
/// Whether it runs on the host only.
bool isHostCode(const clang::FunctionDecl *Function);

} // namespace gmpi::translate
