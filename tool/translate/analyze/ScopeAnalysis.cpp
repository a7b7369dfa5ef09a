// From the translation unit to its scopes: find the kernels, interpret each, make specialisations.
#include "ScopeAnalysis.h"
#include "Specialise.h"
#include "clang/AST/RecursiveASTVisitor.h"
#include "clang/Basic/SourceManager.h"

namespace gmpi::translate {

using clang::FunctionDecl;

namespace {

/// Kernels with bodies (a template's instantiations, not its pattern), and everything that device
/// code may call.
class FunctionFinder : public clang::RecursiveASTVisitor<FunctionFinder> {
public:
  FunctionFinder(MpiReach &Reach, const clang::SourceManager &Sources)
      : Reach(Reach), Sources(Sources) {}

  bool shouldVisitTemplateInstantiations() const { return true; }
  bool shouldVisitLambdaBody() const { return true; }

  bool VisitFunctionDecl(FunctionDecl *Function) {
    if (!Function->doesThisDeclarationHaveABody() ||
        Sources.isInSystemHeader(Function->getLocation()))
      return true;
    bool Kernel = Function->hasAttr<clang::CUDAGlobalAttr>();
    bool Device = Kernel || Function->hasAttr<clang::CUDADeviceAttr>();
    if (!Device || !Reach.reachesMpi(Function))
      return true;
    if (Kernel && !Function->isDependentContext())
      Kernels.push_back(Function);
    if (asWritten(Function) == Function)
      Written.push_back(Function);
    return true;
  }

  std::vector<const FunctionDecl *> Kernels, Written;

private:
  MpiReach &Reach;
  const clang::SourceManager &Sources;
};

/// A function that another file's device code may call.
bool mayBeCalledElsewhere(const FunctionDecl *Function, const clang::LangOptions &Options) {
  return Options.GPURelocatableDeviceCode && !Function->isInlined() &&
         Function->isExternallyVisible() && !Function->isDependentContext() &&
         !Function->hasAttr<clang::CUDAGlobalAttr>();
}

} // namespace

const ScopedFunction *ScopeResult::find(const FunctionDecl *Function) const {
  const FunctionDecl *Written = asWritten(Function);
  for (const ScopedFunction &F : Functions)
    if (F.Function == Written)
      return &F;
  return nullptr;
}

std::optional<ScopeResult> analyzeScopes(clang::ASTContext &Context,
                                         llvm::ArrayRef<ScopePragma> Pragmas,
                                         ScopeDiagnosticSink &Sink) {
  MpiReach Reach(Context);
  FunctionFinder Found(Reach, Context.getSourceManager());
  Found.TraverseAST(Context);
  Specialiser Versions(Context, Reach, Sink);
  const auto &Sources = Context.getSourceManager();
  llvm::stable_sort(Found.Kernels, [&](const FunctionDecl *A, const FunctionDecl *B) {
    return Sources.isBeforeInTranslationUnit(A->getLocation(), B->getLocation());
  });
  for (const FunctionDecl *Kernel : Found.Kernels) {
    Engine Shared(Context, Reach, Pragmas);
    if (std::shared_ptr<const Run> Of = Shared.runKernel(Kernel))
      Versions.addKernel(Kernel, Of);
    else
      Versions.refuse(Kernel->getLocation(), "scope_too_deep",
                      {"`" + Kernel->getNameAsString() + "`"});
  }
  Engine Shared(Context, Reach, Pragmas);
  for (const FunctionDecl *Function : Found.Written)
    Versions.addUnreached(Function, Shared, mayBeCalledElsewhere(Function, Context.getLangOpts()));
  for (clang::SourceLocation Loc : Shared.unusedPragmas())
    Sink.report(Loc, "scope_unused_pragma", {});
  if (Versions.failed())
    return std::nullopt;
  return Versions.finish();
}

} // namespace gmpi::translate
