// Walks a function's statements, and knows which loop is around each.
#include "Polling.h"
#include "../Precompiled.h"
#include "KnownFunctions.h"

namespace gmpi::translate {

using namespace clang;

bool isVolatileAccess(const Stmt *S) {
  if (const auto *Cast = dyn_cast<ImplicitCastExpr>(S))
    return Cast->getCastKind() == CK_LValueToRValue &&
           Cast->getSubExpr()->getType().isVolatileQualified();
  if (const auto *Binary = dyn_cast<BinaryOperator>(S))
    return Binary->isAssignmentOp() && Binary->getLHS()->getType().isVolatileQualified();
  const auto *Unary = dyn_cast<UnaryOperator>(S);
  return Unary && Unary->isIncrementDecrementOp() &&
         Unary->getSubExpr()->getType().isVolatileQualified();
}

namespace {

template <class Visit> void forAll(const Stmt *S, Visit &&See) {
  if (!S || isa<LambdaExpr>(S))
    return;
  See(S);
  for (const Stmt *Child : S->children())
    forAll(Child, See);
}

const VarDecl *localOf(const Expr *E) {
  const auto *Name = dyn_cast<DeclRefExpr>(E->IgnoreParens());
  const auto *V = Name ? dyn_cast<VarDecl>(Name->getDecl()) : nullptr;
  return V && V->hasLocalStorage() && !V->getType()->isReferenceType() ? V : nullptr;
}

/// What the expression loads, if that is all it does with it.
const Expr *loadedBy(const Stmt *S) {
  const auto *Cast = dyn_cast<ImplicitCastExpr>(S);
  return Cast && Cast->getCastKind() == CK_LValueToRValue ? Cast->getSubExpr() : nullptr;
}

/// Reads memory that others can write, and no variable that the loop changes.
bool waitsForMemory(const Expr *Condition, const Stmt *Loop) {
  bool Loads = false;
  std::map<const VarDecl *, int> Changed; // times named, but for loads
  forAll(Condition, [&](const Stmt *S) {
    const Expr *Loaded = loadedBy(S);
    const VarDecl *V = Loaded ? localOf(Loaded) : nullptr;
    if (V)
      Changed[V] = 0;
    else
      Loads |= Loaded != nullptr;
  });
  forAll(Loop, [&](const Stmt *S) {
    if (const Expr *Loaded = loadedBy(S))
      if (auto Found = Changed.find(localOf(Loaded)); Found != Changed.end())
        --Found->second;
    if (const auto *Name = dyn_cast<DeclRefExpr>(S))
      if (auto Found = Changed.find(localOf(Name)); Found != Changed.end())
        ++Found->second;
  });
  return Loads && llvm::all_of(Changed, [](const auto &Of) { return Of.second == 0; });
}

bool leavesLoop(const Stmt *S) {
  bool Leaves = false;
  forAll(S, [&](const Stmt *Inner) { Leaves |= isa<BreakStmt, ReturnStmt>(Inner); });
  return Leaves;
}

const Expr *conditionOf(const Stmt *S) {
  if (const auto *For = dyn_cast<ForStmt>(S))
    return For->getCond();
  if (const auto *While = dyn_cast<WhileStmt>(S))
    return While->getCond();
  if (const auto *Do = dyn_cast<DoStmt>(S))
    return Do->getCond();
  const auto *If = dyn_cast<IfStmt>(S);
  return If ? If->getCond() : nullptr;
}

class PollingFinder {
public:
  /// `Loop`: the innermost around it. `Discarded`: its value is not used.
  void visit(const Stmt *S, const Stmt *Loop, bool Discarded) {
    if (!S || isa<LambdaExpr>(S))
      return;
    if (std::string What = polls(S, Discarded); !What.empty())
      Found.try_emplace(S, Polling{What, S->getBeginLoc()});
    bool IsLoop = isa<ForStmt, WhileStmt, DoStmt, CXXForRangeStmt>(S);
    const Expr *Condition = conditionOf(S);
    if (const Stmt *Within = IsLoop          ? S
                             : leavesLoop(S) ? Loop
                                             : nullptr;
        Condition && Within && waitsForMemory(Condition, Within))
      Found.try_emplace(Condition->IgnoreParens(),
                        Polling{"memory in its condition", Condition->getBeginLoc()});
    bool Statements =
        IsLoop || isa<CompoundStmt, IfStmt, CaseStmt, DefaultStmt, LabelStmt, AttributedStmt>(S);
    bool Through = Discarded && isa<ExprWithCleanups, ParenExpr, CastExpr>(S);
    for (const Stmt *Child : S->children())
      visit(Child, IsLoop ? S : Loop, Through || (Statements && Child != Condition));
  }

  std::map<const Stmt *, Polling> Found;

private:
  static std::string polls(const Stmt *S, bool Discarded) {
    if (isVolatileAccess(S))
      return "a volatile access";
    const auto *Call = dyn_cast<CallExpr>(S);
    const FunctionDecl *Callee = Call ? Call->getDirectCallee() : nullptr;
    if (!Callee || mpiFunctionOf(Callee))
      return "";
    Effect What = classify(Call).What;
    bool Named = Callee->getIdentifier() && (Callee->getName().starts_with("__threadfence") ||
                                             Callee->getName().starts_with("__nanosleep"));
    bool Looks = (What == Effect::Atomic && !Discarded) || What == Effect::LoadsAfresh || Named;
    return Looks ? "'" + Callee->getNameAsString() + "'" : "";
  }
};

} // namespace

std::map<const Stmt *, Polling> findPolling(const FunctionDecl *Function) {
  PollingFinder Finder;
  Finder.visit(Function->getBody(), nullptr, false);
  return std::move(Finder.Found);
}

} // namespace gmpi::translate
