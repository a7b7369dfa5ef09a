// A fixpoint over the assignments of a function.
#include "SharedPointers.h"
#include "../Precompiled.h"
#include "VariableUses.h"

namespace gmpi::translate {

using namespace clang;

namespace {

bool mayHoldAddress(QualType Type) {
  if (Type->isReferenceType() || Type->isPointerType() || Type->isDependentType())
    return true;
  if (const auto *Record = Type->getAsRecordDecl())
    return llvm::any_of(Record->fields(),
                        [](const FieldDecl *Field) { return mayHoldAddress(Field->getType()); });
  const auto *Array = Type->getAsArrayTypeUnsafe();
  return Array && mayHoldAddress(Array->getElementType());
}

/// The variable that an lvalue is (a part of).
const VarDecl *rootOf(const Expr *E) {
  E = E->IgnoreParenImpCasts();
  if (const auto *Member = dyn_cast<MemberExpr>(E))
    return Member->isArrow() ? nullptr : rootOf(Member->getBase());
  if (const auto *Element = dyn_cast<ArraySubscriptExpr>(E))
    return rootOf(Element->getBase());
  const auto *Reference = dyn_cast<DeclRefExpr>(E);
  return Reference ? dyn_cast<VarDecl>(Reference->getDecl()) : nullptr;
}

} // namespace

class PointerVisitor : public DynamicRecursiveASTVisitor {
public:
  explicit PointerVisitor(SharedPointers &All) : All(All) {}

  bool VisitVarDecl(VarDecl *V) override {
    if (V->getInit() && !V->hasAttr<CUDASharedAttr>())
      assign(V, V->getInit());
    return true;
  }
  bool VisitBinaryOperator(BinaryOperator *E) override {
    if (E->isAssignmentOp())
      if (const VarDecl *V = rootOf(E->getLHS()))
        assign(V, E->getRHS());
    return true;
  }

  bool Changed = false;

private:
  void assign(const VarDecl *V, const Expr *Value) {
    if (V->hasLocalStorage() && mayHoldAddress(V->getType()) && All.mayPoint(Value))
      Changed |= All.Found.insert(placeOf(All.Where, V)).second;
  }

  SharedPointers &All;
};

void SharedPointers::add(const FunctionDecl *Instance) {
  PointerVisitor Visitor(*this);
  do {
    Visitor.Changed = false;
    Visitor.TraverseStmt(Instance->getBody());
  } while (Visitor.Changed);
}

bool SharedPointers::mayPoint(const VarDecl *Variable) const {
  return Found.count(placeOf(Where, Variable)) != 0;
}

bool SharedPointers::mayPoint(const Expr *Value) const {
  if (const auto *Cast = dyn_cast<CastExpr>(Value);
      Cast && Cast->getCastKind() == CK_LValueToRValue && !mayHoldAddress(Cast->getType()))
    return false; // a number is loaded
  if (const auto *Reference = dyn_cast<DeclRefExpr>(Value))
    if (const auto *V = dyn_cast<VarDecl>(Reference->getDecl()))
      return V->hasAttr<CUDASharedAttr>() || mayPoint(V);
  return llvm::any_of(Value->children(), [&](const Stmt *Child) {
    const auto *E = dyn_cast_or_null<Expr>(Child);
    return E && mayPoint(E);
  });
}

} // namespace gmpi::translate
