// One walk over the AST of the user's files, templates as written.
#include "Model.h"
#include "../MpiFunctions.h"
#include "../Precompiled.h"
#include "KernelFunctions.h"

namespace gmpi::translate {

namespace {

using namespace clang;

/// The functions that an expression names: one, an overload set, or none.
llvm::SmallVector<const FunctionDecl *, 2> namedFunctions(const Expr *E) {
  llvm::SmallVector<const FunctionDecl *, 2> Result;
  auto Add = [&](const NamedDecl *D) {
    D = D->getUnderlyingDecl();
    if (auto *Template = dyn_cast<FunctionTemplateDecl>(D))
      D = Template->getTemplatedDecl();
    if (auto *Function = dyn_cast<FunctionDecl>(D))
      Result.push_back(Function);
  };
  if (auto *Reference = dyn_cast<DeclRefExpr>(E))
    Add(Reference->getDecl());
  else if (auto *Lookup = dyn_cast<OverloadExpr>(E))
    for (const NamedDecl *D : Lookup->decls())
      Add(D);
  return Result;
}

bool isKernel(const FunctionDecl *F) { return F->hasAttr<CUDAGlobalAttr>(); }

/// One that was deleted is never chosen where Clang has accepted the file.
bool mayBeChosen(const FunctionDecl *F) { return isKernel(F) && !F->isDeleted(); }

/// A function of the MPI library, or the translator's own declaration of its device counterpart:
/// not one that the user defines under such a name.
bool isMpiFunction(const FunctionDecl *F) {
  return F->getIdentifier() && isMpiName(F->getName()) && !F->isDefined() &&
         F->getDeclContext()->getRedeclContext()->isFileContext();
}

class Builder : public DynamicRecursiveASTVisitor {
public:
  explicit Builder(const Pass &P) : P(P), Where(P) {}

  Model build() {
    TraverseDecl(P.context().getTranslationUnitDecl());
    return std::move(Found);
  }

  bool TraverseDecl(Decl *D) override {
    if (D && D->getDeclContext() && D->getLexicalDeclContext()->isTranslationUnit() &&
        Where.inSystemHeader(D->getLocation()))
      return true;
    auto *Function = dyn_cast_or_null<FunctionDecl>(D);
    if (Function)
      Functions.push_back(Function);
    bool Result = DynamicRecursiveASTVisitor::TraverseDecl(D);
    if (Function)
      Functions.pop_back();
    return Result;
  }

  bool TraverseLambdaExpr(LambdaExpr *Lambda) override {
    Functions.push_back(Lambda->getCallOperator());
    bool Result = DynamicRecursiveASTVisitor::TraverseLambdaExpr(Lambda);
    Functions.pop_back();
    return Result;
  }

  bool TraverseTemplateArgumentLoc(const TemplateArgumentLoc &Argument) override {
    ++TemplateArguments;
    bool Result = DynamicRecursiveASTVisitor::TraverseTemplateArgumentLoc(Argument);
    --TemplateArguments;
    return Result;
  }

  bool VisitFunctionDecl(FunctionDecl *F) override {
    if (isKernel(F))
      addKernel(F);
    else if (F->isThisDeclarationADefinition())
      Found.Functions.push_back(F);
    return true;
  }

  bool VisitCUDAKernelCallExpr(CUDAKernelCallExpr *Call) override {
    LaunchSite Launch{Call, current(), {}, false};
    const Expr *Callee = Call->getCallee()->IgnoreParenImpCasts();
    for (const FunctionDecl *F : namedFunctions(Callee))
      if (mayBeChosen(F)) {
        Launch.Kernels.insert(keyOf(F));
        Launch.Named = true;
      }
    Accounted.insert(Callee);
    Found.Launches.push_back(std::move(Launch));
    return true;
  }

  bool VisitCallExpr(CallExpr *Call) override {
    const Expr *Callee = Call->getCallee()->IgnoreParenImpCasts();
    auto Functions = namedFunctions(Callee);
    if (Functions.empty() || !Functions.front()->getIdentifier())
      return true;
    const FunctionDecl *F = Functions.front();
    if (const KernelFunction *Api = findKernelFunction(F->getName()))
      addApiCall(Call, *Api);
    if (isMpiFunction(F)) {
      Accounted.insert(Callee);
      addMpiCall(Call, nameLocation(Callee), F->getName().str());
    }
    return true;
  }

  bool VisitUnaryOperator(UnaryOperator *Operator) override {
    if (Operator->getOpcode() == UO_AddrOf)
      AddressesOf[Operator->getSubExpr()->IgnoreParenImpCasts()] = Operator;
    return true;
  }

  bool VisitDeclRefExpr(DeclRefExpr *E) override { return visitName(E); }
  bool VisitUnresolvedLookupExpr(UnresolvedLookupExpr *E) override { return visitName(E); }

  bool VisitDeclStmt(DeclStmt *Statement) override {
    SharedDeclaration Shared;
    for (const Decl *D : Statement->decls()) {
      if (auto *V = dyn_cast<VarDecl>(D); V && V->hasAttr<CUDASharedAttr>())
        Shared.Variables.push_back(V);
      if (auto *Tag = dyn_cast<TagDecl>(D); Tag && Tag->isThisDeclarationADefinition())
        Shared.Type = Tag;
    }
    Shared.Range = Statement->getSourceRange();
    if (!Shared.Variables.empty())
      Found.Shared.push_back(std::move(Shared));
    return true;
  }

  bool VisitVarDecl(VarDecl *V) override {
    if (V->hasAttr<CUDASharedAttr>() && V->getLexicalDeclContext()->isFileContext())
      Found.Shared.push_back({{V}, nullptr, V->getSourceRange(), /*InFunction=*/false});
    return true;
  }

  bool VisitAsmStmt(AsmStmt *Asm) override {
    if (current() && isDeviceCode(current()))
      Found.Assembly.push_back({Asm->getAsmLoc(), current()});
    return true;
  }

private:
  const FunctionDecl *current() const { return Functions.empty() ? nullptr : Functions.back(); }

  /// Whether this code is for the GPU: lambdas are as the function they stand in, unless they say
  /// __device__ themselves.
  bool inDeviceOnlyCode() const {
    for (const FunctionDecl *F : llvm::reverse(Functions)) {
      if (isDeviceCode(F) && !F->hasAttr<CUDAHostAttr>())
        return true;
      if (auto *Method = dyn_cast<CXXMethodDecl>(F); !Method || !Method->getParent()->isLambda())
        return false;
    }
    return false;
  }

  Position keyOf(const FunctionDecl *F) const {
    return Where.position(asWritten(F)->getFirstDecl()->getLocation());
  }

  void addKernel(const FunctionDecl *F) {
    Position Key = keyOf(F);
    if (!Key.isValid()) {
      KernelsInMacros.insert(F);
      return;
    }
    Kernel &K = Found.Kernels[Key];
    K.Key = Key;
    K.First = asWritten(F)->getFirstDecl();
    if (F->isThisDeclarationADefinition() && !F->isDeleted())
      K.Definition = F;
    if (auto *Primary = F->getPrimaryTemplate())
      Found.Kernels[keyOf(Primary->getTemplatedDecl())].Specialized = true;
  }

  void addApiCall(const CallExpr *Call, const KernelFunction &Api) {
    Found.ApiCalls.push_back({Call, Api.Name.str(), current()});
    if (Api.Argument >= Call->getNumArgs())
      return;
    const Expr *Kernel = Call->getArg(Api.Argument);
    for (;;) {
      Kernel = Kernel->IgnoreParenCasts();
      auto *AddressOf = dyn_cast<UnaryOperator>(Kernel);
      if (!AddressOf || AddressOf->getOpcode() != UO_AddrOf)
        break;
      Kernel = AddressOf->getSubExpr();
    }
    ArgumentOf[Kernel] = Call;
  }

  void addMpiCall(const CallExpr *Call, SourceLocation Loc, std::string Name) {
    if (!current() || !isDeviceCode(current()) || isInIgnoredHeader(Loc))
      return;
    if (!findMpiFunction(Name)) {
      if (inDeviceOnlyCode())
        P.diagnostics().report(DiagId::unsupported_function, Where.shown(Loc), {Name});
      return;
    }
    if (Where.spelled(Loc).isInvalid() || Where.spelled(Call->getRParenLoc()).isInvalid()) {
      if (inDeviceOnlyCode())
        tellMacro(Loc, Name);
      return;
    }
    Found.MpiCalls.push_back({Call, Loc, std::move(Name), current()});
  }

  void tellMacro(SourceLocation Loc, const std::string &Name) {
    P.diagnostics().report(DiagId::call_in_macro, Where.shown(Loc), {Name});
    auto [Macro, Body] = Where.macroOf(Loc);
    if (!Macro.empty())
      P.diagnostics().note(NoteId::macro_here, Body, {Macro});
  }

  bool isInIgnoredHeader(SourceLocation Loc) const { return Where.inSystemHeader(Loc); }

  bool visitName(Expr *E) {
    if (Accounted.count(E))
      return true;
    auto Functions = namedFunctions(E);
    if (Functions.empty())
      return true;
    if (isMpiFunction(Functions.front()) && inDeviceOnlyCode())
      P.diagnostics().report(DiagId::mpi_function_pointer, Where.shown(E->getExprLoc()),
                             {Functions.front()->getName().str()});
    KernelReference Reference;
    for (const FunctionDecl *F : Functions)
      if (mayBeChosen(F))
        Reference.Kernels.insert(keyOf(F));
    if (Reference.Kernels.empty())
      return true;
    Reference.Name = E;
    Reference.Argument = ArgumentOf.lookup(E);
    Reference.Whole = E->getSourceRange();
    if (const UnaryOperator *Operator = AddressesOf.lookup(E)) {
      Reference.AddressOf = true;
      Reference.Whole = Operator->getSourceRange();
    }
    Reference.InTemplateArgument = TemplateArguments > 0;
    Found.References.push_back(std::move(Reference));
    return true;
  }

  const Pass &P;
  Locations Where;
  Model Found;
  std::vector<const FunctionDecl *> Functions;
  unsigned TemplateArguments = 0;
  llvm::DenseSet<const Expr *> Accounted; ///< names that are part of a call or launch
  llvm::DenseMap<const Expr *, const CallExpr *> ArgumentOf;
  llvm::DenseMap<const Expr *, const UnaryOperator *> AddressesOf;
  std::set<const FunctionDecl *> KernelsInMacros;
};

} // namespace

SourceLocation nameLocation(const Expr *Name) {
  if (auto *Reference = dyn_cast<DeclRefExpr>(Name))
    return Reference->getLocation();
  if (auto *Lookup = dyn_cast<OverloadExpr>(Name))
    return Lookup->getNameLoc();
  if (auto *Member = dyn_cast<MemberExpr>(Name))
    return Member->getMemberLoc();
  // Before they are instantiated:
  if (auto *Member = dyn_cast<CXXDependentScopeMemberExpr>(Name))
    return Member->getMemberLoc();
  if (auto *Reference = dyn_cast<DependentScopeDeclRefExpr>(Name))
    return Reference->getLocation();
  return Name->getExprLoc();
}

SourceLocation nameLocation(const CallExpr *Call, const SourceManager &Sources) {
  return Sources.getFileLoc(nameLocation(Call->getCallee()->IgnoreParenImpCasts()));
}

bool isDeviceCode(const FunctionDecl *F) {
  return F->hasAttr<CUDAGlobalAttr>() || F->hasAttr<CUDADeviceAttr>();
}

bool isHostCode(const FunctionDecl *F) { return !isDeviceCode(F); }

Model buildModel(const Pass &P) { return Builder(P).build(); }

} // namespace gmpi::translate
