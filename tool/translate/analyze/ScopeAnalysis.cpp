// From the translation unit to its scopes: find the kernels, interpret each, make specialisations.
#include "ScopeAnalysis.h"
#include "FollowedCalls.h"
#include "Specialise.h"
#include "clang/AST/DynamicRecursiveASTVisitor.h"
#include "clang/Basic/SourceManager.h"

namespace gmpi::translate {

using clang::FunctionDecl;

namespace {

/// A function that another file's device code may call.
bool mayBeCalledElsewhere(const FunctionDecl *Function, const clang::LangOptions &Options) {
  bool Emitted = !Function->isInlined() || Function->getTemplateSpecializationKind() ==
                                               clang::TSK_ExplicitInstantiationDefinition;
  return Options.GPURelocatableDeviceCode && Emitted && Function->isExternallyVisible() &&
         !Function->isDependentContext() && !Function->hasAttr<clang::CUDAGlobalAttr>();
}

/// Kernels with bodies (a template's instantiations, not its pattern), and everything that device
/// code may call.
class FunctionFinder : public clang::DynamicRecursiveASTVisitor {
public:
  FunctionFinder(MpiReach &Reach, const clang::SourceManager &Sources)
      : Reach(Reach), Sources(Sources) {
    ShouldVisitTemplateInstantiations = true;
  }

  bool VisitFunctionDecl(FunctionDecl *Function) override {
    if (Sources.isInSystemHeader(Function->getLocation()))
      return true;
    bool Kernel = Function->hasAttr<clang::CUDAGlobalAttr>();
    bool Device = Kernel || Function->hasAttr<clang::CUDADeviceAttr>();
    if (!Device)
      return true;
    if (!Function->doesThisDeclarationHaveABody()) {
      addExternTemplate(Function);
      return true;
    }
    const FunctionDecl *AsWritten = asWritten(Function);
    if (!Function->isDependentContext())
      Compiled.insert(AsWritten);
    if (!Reach.reachesMpi(Function))
      return true;
    if (Kernel && !Function->isDependentContext())
      Kernels.push_back(Function);
    if (mayBeCalledElsewhere(Function, Function->getLangOpts()))
      Exported.insert(AsWritten);
    if (AsWritten == Function)
      Written.push_back(Function);
    return true;
  }

  std::vector<const FunctionDecl *> Kernels, Written;
  /// As written: those of which nvcc compiles anything, and those that other files may call.
  std::set<const FunctionDecl *> Compiled, Exported;
  std::vector<const FunctionDecl *> ExternTemplates; ///< with MPI, used here

private:
  void addExternTemplate(const FunctionDecl *Function) {
    const FunctionDecl *Pattern = asWritten(Function);
    if (Function->getTemplateSpecializationKind() == clang::TSK_ExplicitInstantiationDeclaration &&
        Function->isUsed() && !definitionOf(Function) && Pattern != Function &&
        Reach.reachesMpi(Pattern))
      ExternTemplates.push_back(Function);
  }

  MpiReach &Reach;
  const clang::SourceManager &Sources;
};

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
  for (const FunctionDecl *Function : Found.ExternTemplates)
    Versions.refuse(Function->getPointOfInstantiation().isValid()
                        ? Function->getPointOfInstantiation()
                        : Function->getLocation(),
                    "extern_template", {Function->getNameAsString()});
  Engine Shared(Context, Reach, Pragmas);
  for (const FunctionDecl *Function : Found.Written)
    Versions.addUnreached(Function, Shared,
                          Found.Exported.count(Function) || !Found.Compiled.count(Function));
  for (clang::SourceLocation Loc : Shared.unusedPragmas())
    Sink.report(Loc, "scope_unused_pragma", {});
  if (Versions.failed())
    return std::nullopt;
  ScopeResult Result = Versions.finish();
  Result.Exported = std::move(Found.Exported);
  findFollowedCalls(Context, Result);
  return Result;
}

} // namespace gmpi::translate
