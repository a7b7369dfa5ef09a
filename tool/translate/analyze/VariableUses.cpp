// Climbs from each name of a variable to what is done with it.
#include "VariableUses.h"
#include "../Precompiled.h"
#include "KnownFunctions.h"
#include "SpecialFunctions.h"
#include "clang/AST/ParentMap.h"

namespace gmpi::translate {

using namespace clang;

namespace {

enum class Use { Read, Modify, TakeAddress, Decay, Nothing };

bool isMpi(const CallExpr *Call) { return mpiFunctionOf(Call->getDirectCallee()) != nullptr; }

/// Takes references only to compute with what they name.
bool onlyLooks(const FunctionDecl *Callee) {
  if (!Callee || !Callee->getIdentifier())
    return false;
  const auto &Sources = Callee->getASTContext().getSourceManager();
  return Sources.isInSystemHeader(Callee->getLocation()) &&
         llvm::is_contained({"min", "max", "clamp"}, Callee->getName());
}

bool isTrivialCopy(const FunctionDecl *Callee) {
  if (const auto *Constructor = dyn_cast<CXXConstructorDecl>(Callee))
    return Constructor->isCopyOrMoveConstructor() && Constructor->isTrivial();
  const auto *Method = dyn_cast<CXXMethodDecl>(Callee);
  return Method && Method->isTrivial() &&
         (Method->isCopyAssignmentOperator() || Method->isMoveAssignmentOperator());
}

/// Whether that calls `E`, a lambda: what it does with itself is known.
bool callsLambda(const CallExpr *Call, const Expr *E) {
  return isa<CXXOperatorCallExpr>(Call) && Call->getDirectCallee() &&
         isLambda(Call->getDirectCallee()) && Call->getArg(0) == E;
}

bool isGroup(QualType Type) {
  const auto *Record = Type.getNonReferenceType()->getAsCXXRecordDecl();
  return Record && isInCooperativeGroups(Record);
}

/// What becomes of `E`, an lvalue for (a part of) a variable.
class Climb {
public:
  explicit Climb(const ParentMap &Parents) : Parents(Parents) {}

  Use of(const Expr *E) const {
    const Stmt *Parent = Parents.getParent(E);
    for (;; E = cast<Expr>(Parent), Parent = Parents.getParent(E)) {
      const auto *P = dyn_cast_or_null<Expr>(Parent);
      if (!P)
        return statement(E, Parent);
      if (isa<ParenExpr>(P) ||
          (isa<MemberExpr>(P) && !cast<MemberExpr>(P)->isArrow() && !isMethod(cast<MemberExpr>(P))))
        continue;
      if (const auto *Conditional = dyn_cast<ConditionalOperator>(P);
          Conditional && Conditional->isGLValue() && Conditional->getCond() != E)
        continue;
      if (const auto *Cast = dyn_cast<CastExpr>(P)) {
        if (Cast->getCastKind() == CK_LValueToRValue)
          return Use::Read;
        if (Cast->getCastKind() == CK_ArrayToPointerDecay) {
          const Stmt *Next = Parents.getParentIgnoreParens(const_cast<CastExpr *>(Cast));
          if (const auto *Element = dyn_cast_or_null<ArraySubscriptExpr>(Next)) {
            Parent = Element;
            continue;
          }
          return intoCall(Cast, Use::Decay);
        }
        continue;
      }
      return expression(E, P);
    }
  }

private:
  static bool isMethod(const MemberExpr *E) { return isa<CXXMethodDecl>(E->getMemberDecl()); }

  Use statement(const Expr *E, const Stmt *Parent) const {
    const auto *Declaration = dyn_cast_or_null<DeclStmt>(Parent);
    if (!Declaration)
      return Use::Read;
    for (const Decl *D : Declaration->decls())
      if (const auto *V = dyn_cast<VarDecl>(D);
          V && V->getInit() && V->getType()->isReferenceType() && V->getInit()->isGLValue() &&
          V->getInit()->getSourceRange() == E->getSourceRange())
        return Use::TakeAddress;
    return Use::Read;
  }

  Use expression(const Expr *E, const Expr *P) const {
    if (const auto *Binary = dyn_cast<BinaryOperator>(P)) {
      if (Binary->isAssignmentOp() && Binary->getLHS() == E)
        return Use::Modify;
      return Use::Read; // a comma's left side, or a class read as a whole
    }
    if (const auto *Unary = dyn_cast<UnaryOperator>(P)) {
      if (Unary->isIncrementDecrementOp())
        return Use::Modify;
      return Unary->getOpcode() == UO_AddrOf ? intoCall(Unary, Use::TakeAddress) : Use::Read;
    }
    if (isa<UnaryExprOrTypeTraitExpr>(P))
      return Use::Nothing;
    if (const auto *Member = dyn_cast<MemberExpr>(P)) // a member function
      return isGroup(Member->getBase()->getType()) ? Use::Read : Use::TakeAddress;
    if (const auto *Construct = dyn_cast<CXXConstructExpr>(P))
      return isTrivialCopy(Construct->getConstructor()) ? Use::Read : Use::TakeAddress;
    if (const auto *Call = dyn_cast<CallExpr>(P)) {
      if (callsLambda(Call, E))
        return cast<CXXMethodDecl>(Call->getDirectCallee())->isConst() ? Use::Read : Use::Modify;
      if (Call->getDirectCallee() && isTrivialCopy(Call->getDirectCallee()))
        return Call->getArg(0) == E ? Use::Modify : Use::Read;
      return isMpi(Call) || onlyLooks(Call->getDirectCallee()) || isGroup(E->getType())
                 ? Use::Read
                 : Use::TakeAddress;
    }
    return Use::TakeAddress;
  }

  /// An address: harmless where it is an MPI call's argument.
  Use intoCall(const Expr *E, Use Otherwise) const {
    const Stmt *Parent = Parents.getParent(E);
    while (isa_and_nonnull<ParenExpr, CastExpr>(Parent))
      Parent = Parents.getParent(Parent);
    const auto *Call = dyn_cast_or_null<CallExpr>(Parent);
    return Call && isMpi(Call) ? Use::Modify : Otherwise;
  }

  const ParentMap &Parents;
};

} // namespace

class UseVisitor : public DynamicRecursiveASTVisitor {
public:
  UseVisitor(FunctionVariables &All, const Pass &Code, Stmt *Body)
      : All(All), Code(Code), Parents(Body) {
    ShouldVisitImplicitCode = true;
  }

  bool VisitVarDecl(VarDecl *V) override {
    entry(V);
    return true;
  }
  bool VisitDeclRefExpr(DeclRefExpr *E) override {
    use(E->getDecl(), E, E->getLocation());
    return true;
  }
  bool VisitLambdaExpr(LambdaExpr *E) override {
    for (const LambdaCapture &Capture : E->captures())
      if (Capture.capturesVariable())
        if (auto *V = dyn_cast<VarDecl>(Capture.getCapturedVar())) {
          VariableUses &Of = entry(V);
          Of.At.push_back(anyPlace(All.Where, Code, E->getBeginLoc()).Offset);
          // Whatever the lambda's uses do to it, they do where the lambda is called.
          if (Capture.getCaptureKind() == LCK_ByRef)
            Of.AddressTaken = true;
        }
    return true;
  }

private:
  VariableUses &entry(const VarDecl *V) {
    VariableUses &Of = All.ByPlace[placeOf(All.Where, V)];
    if (!llvm::is_contained(Of.Instances, V))
      Of.Instances.push_back(V);
    return Of;
  }

  void use(const ValueDecl *D, const Expr *E, SourceLocation Loc) {
    if (const auto *Binding = dyn_cast<BindingDecl>(D))
      D = dyn_cast_or_null<VarDecl>(Binding->getDecomposedDecl());
    const auto *V = dyn_cast_or_null<VarDecl>(D);
    if (!V || (!V->hasLocalStorage() && !V->isStaticLocal() && !V->hasAttr<CUDASharedAttr>()))
      return;
    VariableUses &Of = entry(V);
    Of.At.push_back(anyPlace(All.Where, Code, Loc).Offset);
    switch (Climb(Parents).of(E)) {
    case Use::Modify:
      Of.Modified = true;
      break;
    case Use::TakeAddress:
      Of.AddressTaken = true;
      break;
    case Use::Decay:
      Of.Decays = true;
      break;
    default:
      break;
    }
  }

  FunctionVariables &All;
  const Pass &Code;
  ParentMap Parents;
};

Position placeOf(const Locations &Where, const VarDecl *Variable) {
  return Where.position(isa<DecompositionDecl>(Variable) ? Variable->getBeginLoc()
                                                         : Variable->getLocation());
}

Position anyPlace(const Locations &Where, const Pass &Code, SourceLocation Loc) {
  Position Spelled = Where.position(Loc);
  return Spelled.isValid() ? Spelled : Code.position(Code.sources().getExpansionLoc(Loc));
}

void FunctionVariables::add(const FunctionDecl *Instance) {
  for (const ParmVarDecl *Parameter : Instance->parameters()) {
    ByPlace[placeOf(Where, Parameter)].Instances.push_back(Parameter);
  }
  UseVisitor(*this, Where.pass(), Instance->getBody()).TraverseStmt(Instance->getBody());
}

const VariableUses *FunctionVariables::find(const VarDecl *Variable) const {
  auto Found = ByPlace.find(placeOf(Where, Variable));
  return Found == ByPlace.end() ? nullptr : &Found->second;
}

} // namespace gmpi::translate
