#include "MpiReach.h"
#include "KnownFunctions.h"
#include "SingleThread.h"
#include "clang/AST/DynamicRecursiveASTVisitor.h"
#include "clang/Basic/SourceManager.h"

namespace gmpi::translate {

using clang::FunctionDecl;

const FunctionDecl *definitionOf(const FunctionDecl *Function) {
  const FunctionDecl *Definition = nullptr;
  return Function && Function->hasBody(Definition) ? Definition : nullptr;
}

bool isVirtualCall(const clang::CallExpr *Call) {
  const auto *Method = llvm::dyn_cast_if_present<clang::CXXMethodDecl>(Call->getDirectCallee());
  if (!Method || !Method->isVirtual() || Method->hasAttr<clang::FinalAttr>() ||
      Method->getParent()->hasAttr<clang::FinalAttr>())
    return false;
  const auto *Member = llvm::dyn_cast<clang::MemberExpr>(Call->getCallee()->IgnoreParens());
  return !Member || !Member->hasQualifier();
}

const FunctionDecl *asWritten(const FunctionDecl *Function) {
  if (const FunctionDecl *Pattern = Function->getTemplateInstantiationPattern())
    Function = Pattern;
  if (const FunctionDecl *Definition = definitionOf(Function))
    return Definition;
  return Function->getCanonicalDecl();
}

namespace {

/// Collects BodyFacts of one body, template instantiations as they are.
class BodyVisitor : public clang::DynamicRecursiveASTVisitor {
public:
  BodyVisitor(BodyFacts &Facts, bool UserCode) : Facts(Facts), UserCode(UserCode) {
    ShouldVisitImplicitCode = true;
  }

  bool VisitCallExpr(clang::CallExpr *Call) override {
    if (const FunctionDecl *Callee = Call->getDirectCallee())
      add(Callee, Call);
    else if (!addByName(Call->getCallee()) && !Call->isTypeDependent())
      Facts.Indirect.push_back(Call);
    return true;
  }

  bool VisitCXXConstructExpr(clang::CXXConstructExpr *E) override {
    if (const FunctionDecl *Definition = definitionOf(E->getConstructor()))
      Facts.Callees.push_back(Definition);
    return true;
  }

  bool VisitVarDecl(clang::VarDecl *Variable) override {
    const auto *Class = Variable->getType()->getBaseElementTypeUnsafe()->getAsCXXRecordDecl();
    if (Class && Class->hasDefinition() && !Class->hasTrivialDestructor())
      if (const FunctionDecl *Definition = definitionOf(Class->getDestructor()))
        Facts.Callees.push_back(Definition);
    return true;
  }

  bool VisitCXXMemberCallExpr(clang::CXXMemberCallExpr *E) override {
    // A copy of all components.
    const auto *Name =
        llvm::dyn_cast<clang::DeclRefExpr>(E->getImplicitObjectArgument()->IgnoreParenImpCasts());
    auto Variable = Name && UserCode ? builtinVariable(Name->getDecl()) : std::nullopt;
    if (Variable == BuiltinVariable::ThreadIdx)
      Facts.UsedParts |= AllThread;
    if (Variable == BuiltinVariable::BlockIdx)
      Facts.UsedParts |= AllBlock;
    return true;
  }

  bool VisitMemberExpr(clang::MemberExpr *E) override {
    useOf(E->getBase(), E->getMemberDecl());
    return true;
  }

  bool VisitMSPropertyRefExpr(clang::MSPropertyRefExpr *E) override {
    useOf(E->getBaseExpr(), E->getPropertyDecl());
    return true;
  }

private:
  void add(const FunctionDecl *Callee, const clang::CallExpr *Call) {
    if (const MpiFunction *Mpi = mpiFunctionOf(Callee)) {
      Facts.CallsMpi = true;
      Facts.Meets |= !Mpi->isLocal();
      return;
    }
    Effect What = classify(Call).What;
    if (What == Effect::BlockMeets || What == Effect::GridMeets)
      Facts.Meets = true;
    if (What != Effect::Unknown)
      return;
    if (isVirtualCall(Call))
      Facts.Indirect.push_back(Call);
    if (const FunctionDecl *Definition = definitionOf(Callee))
      Facts.Callees.push_back(Definition);
  }

  /// In a template's pattern.
  bool addByName(const clang::Expr *Callee) {
    const auto *Name = llvm::dyn_cast<clang::UnresolvedLookupExpr>(Callee->IgnoreParenImpCasts());
    if (!Name || !Name->getName().isIdentifier())
      return false;
    const MpiFunction *Mpi = findMpiFunction(Name->getName().getAsIdentifierInfo()->getName());
    if (!Mpi)
      return false;
    Facts.CallsMpi = true;
    Facts.Meets |= !Mpi->isLocal();
    return true;
  }

  void useOf(const clang::Expr *Base, const clang::NamedDecl *Member) {
    Base = Base->IgnoreParenImpCasts();
    if (const auto *Opaque = llvm::dyn_cast<clang::OpaqueValueExpr>(Base))
      Base = Opaque->getSourceExpr()->IgnoreParenImpCasts();
    const auto *Reference = llvm::dyn_cast<clang::DeclRefExpr>(Base);
    if (!UserCode || !Reference || !Member->getIdentifier() ||
        llvm::isa<clang::FunctionDecl>(Member))
      return;
    auto Variable = builtinVariable(Reference->getDecl());
    if (Variable == BuiltinVariable::ThreadIdx || Variable == BuiltinVariable::BlockIdx)
      Facts.UsedParts |= indexPart(Member->getName(), Variable == BuiltinVariable::ThreadIdx);
  }

  BodyFacts &Facts;
  bool UserCode;
};

} // namespace

const BodyFacts &MpiReach::factsOf(const FunctionDecl *Function) {
  auto [Slot, New] = Known.try_emplace(Function);
  if (New) {
    BodyFacts Facts;
    bool UserCode = !Context.getSourceManager().isInSystemHeader(Function->getLocation());
    BodyVisitor(Facts, UserCode).TraverseDecl(const_cast<FunctionDecl *>(Function));
    Slot->second = std::move(Facts);
  }
  return Known[Function];
}

std::set<const FunctionDecl *> MpiReach::allReached(const FunctionDecl *Function) {
  std::set<const FunctionDecl *> Found{Function};
  std::vector<const FunctionDecl *> Open{Function};
  while (!Open.empty()) {
    const FunctionDecl *Next = Open.back();
    Open.pop_back();
    for (const FunctionDecl *Callee : factsOf(Next).Callees)
      if (Found.insert(Callee).second)
        Open.push_back(Callee);
  }
  return Found;
}

bool MpiReach::reachesByName(const FunctionDecl *Function) {
  if (auto Found = ReachesByName.find(Function); Found != ReachesByName.end())
    return Found->second;
  auto Reached = allReached(Function);
  bool Result = llvm::any_of(Reached, [&](const FunctionDecl *F) { return factsOf(F).CallsMpi; });
  // Whoever is reached from a function that reaches nothing, reaches nothing either.
  if (!Result)
    for (const FunctionDecl *F : Reached)
      ReachesByName[F] = false;
  return ReachesByName[Function] = Result;
}

bool MpiReach::reachesMpi(const FunctionDecl *Function) {
  Function = definitionOf(Function);
  if (!Function)
    return false;
  if (auto Found = Reaches.find(Function); Found != Reaches.end())
    return Found->second;
  bool Result = reachesByName(Function);
  if (!Result)
    for (const FunctionDecl *F : allReached(Function))
      Result |= llvm::any_of(factsOf(F).Indirect,
                             [&](const clang::CallExpr *Call) { return indirectTarget(Call); });
  return Reaches[Function] = Result;
}

bool MpiReach::maySynchronise(const clang::Stmt *Statement) {
  BodyFacts Facts;
  BodyVisitor(Facts, false).TraverseStmt(const_cast<clang::Stmt *>(Statement));
  if (Facts.Meets)
    return true;
  for (const FunctionDecl *Callee : Facts.Callees) {
    auto [Slot, New] = Meets.try_emplace(Callee, false);
    if (New) {
      auto Reached = allReached(Callee);
      Meets[Callee] =
          llvm::any_of(Reached, [&](const FunctionDecl *F) { return factsOf(F).Meets; });
    }
    if (Meets[Callee])
      return true;
  }
  return false;
}

unsigned MpiReach::usedParts(const FunctionDecl *Function) {
  unsigned Used = 0;
  for (const FunctionDecl *F : allReached(Function))
    Used |= factsOf(F).UsedParts;
  return Used;
}

namespace {

/// Functions that are named without being called, and virtual methods, in the whole file.
class IndirectVisitor : public clang::DynamicRecursiveASTVisitor {
public:
  IndirectVisitor(std::vector<const FunctionDecl *> &AddressTaken,
                  std::vector<const clang::CXXMethodDecl *> &VirtualMethods)
      : AddressTaken(AddressTaken), VirtualMethods(VirtualMethods) {
    ShouldVisitTemplateInstantiations = true;
  }

  bool VisitCallExpr(clang::CallExpr *Call) override {
    Called.insert(Call->getCallee()->IgnoreParenImpCasts());
    return true;
  }
  bool VisitDeclRefExpr(clang::DeclRefExpr *E) override {
    const auto *Function = llvm::dyn_cast<FunctionDecl>(E->getDecl());
    if (Function && !Called.count(E) && definitionOf(Function))
      AddressTaken.push_back(definitionOf(Function));
    return true;
  }
  bool VisitCXXMethodDecl(clang::CXXMethodDecl *Method) override {
    if (Method->isVirtual() && Method->isThisDeclarationADefinition())
      VirtualMethods.push_back(Method);
    return true;
  }

private:
  std::vector<const FunctionDecl *> &AddressTaken;
  std::vector<const clang::CXXMethodDecl *> &VirtualMethods;
  std::set<const clang::Stmt *> Called;
};

bool isOrOverrides(const clang::CXXMethodDecl *Method, const clang::CXXMethodDecl *Base) {
  if (Method->getCanonicalDecl() == Base->getCanonicalDecl())
    return true;
  return llvm::any_of(Method->overridden_methods(), [&](const clang::CXXMethodDecl *Overridden) {
    return isOrOverrides(Overridden, Base);
  });
}

} // namespace

void MpiReach::collectIndirectTargets() {
  if (!Collected)
    IndirectVisitor(AddressTaken, VirtualMethods).TraverseAST(Context);
  Collected = true;
}

const FunctionDecl *MpiReach::indirectTarget(const clang::CallExpr *Call) {
  collectIndirectTargets();
  if (const auto *Method =
          llvm::dyn_cast_if_present<clang::CXXMethodDecl>(Call->getDirectCallee())) {
    for (const clang::CXXMethodDecl *Candidate : VirtualMethods)
      if (isOrOverrides(Candidate, Method) && reachesByName(Candidate))
        return Candidate;
    return nullptr;
  }
  clang::QualType Type = Call->getCallee()->getType();
  if (Type->isPointerType())
    Type = Type->getPointeeType();
  // Kernels have their addresses taken by launches, and cannot be called. A pointer to a member may
  // be to any.
  for (const FunctionDecl *Candidate : AddressTaken)
    if (!Candidate->hasAttr<clang::CUDAGlobalAttr>() &&
        (!Type->isFunctionType() ||
         Context.hasSameFunctionTypeIgnoringExceptionSpec(Type, Candidate->getType())) &&
        reachesByName(Candidate))
      return Candidate;
  return nullptr;
}

} // namespace gmpi::translate
