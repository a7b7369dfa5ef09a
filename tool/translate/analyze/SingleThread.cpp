#include "SingleThread.h"
#include "clang/AST/ASTContext.h"

namespace gmpi::translate {

using clang::BinaryOperator;
using clang::Expr;

unsigned indexPart(llvm::StringRef Component, bool OfThread) {
  unsigned Part = 0;
  if (Component.size() == 1 && Component[0] >= 'x' && Component[0] <= 'z')
    Part = ThreadX << (Component[0] - 'x');
  return OfThread ? Part : Part * BlockX;
}

namespace {

std::optional<llvm::APSInt> constantOf(const Expr *E, const clang::ASTContext &Context) {
  clang::Expr::EvalResult Result;
  if (E->isValueDependent() || !E->getType()->isIntegralOrEnumerationType() ||
      !E->EvaluateAsInt(Result, Context))
    return std::nullopt;
  return Result.Val.getInt();
}

bool isConstant(const Expr *E, int64_t Number, const clang::ASTContext &Context) {
  auto Constant = constantOf(E, Context);
  return Constant && Constant->getExtValue() == Number;
}

/// Mixed radix: a digit, plus one whose weight is exactly the digit's extent.
bool isWeightedBy(const IndexShape &High, const IndexShape &Low) {
  return High.Injective && Low.Injective && Low.Extents == 0 && High.Extents == Low.Parts;
}

IndexShape sumOf(const IndexShape &A, const IndexShape &B) {
  if (!A.Parts || !B.Parts || (A.Parts & B.Parts))
    return {};
  IndexShape Sum;
  Sum.Parts = A.Parts | B.Parts;
  Sum.Injective = isWeightedBy(A, B) || isWeightedBy(B, A);
  return Sum;
}

IndexShape productOf(const IndexShape &A, const IndexShape &B) {
  if (A.Parts && B.Parts)
    return {};
  if (!A.Parts && !B.Parts) {
    IndexShape Extents;
    Extents.Extents =
        A.Extents && B.Extents && !(A.Extents & B.Extents) ? A.Extents | B.Extents : 0;
    return Extents;
  }
  const IndexShape &Index = A.Parts ? A : B, &Extent = A.Parts ? B : A;
  // Weighted by anything but sizes of other parts, it could be zero.
  if (!Extent.Extents || (Index.Extents & Extent.Extents))
    return {};
  IndexShape Product = Index;
  Product.Extents |= Extent.Extents;
  return Product;
}

const Expr *plain(const Expr *E) {
  for (;;) {
    E = E->IgnoreParenImpCasts();
    if (const auto *Cleanups = llvm::dyn_cast<clang::ExprWithCleanups>(E))
      E = Cleanups->getSubExpr();
    else if (const auto *Call = llvm::dyn_cast<clang::CallExpr>(E);
             Call && Call->getNumArgs() == 2 && Call->getDirectCallee() &&
             Call->getDirectCallee()->getIdentifier() &&
             Call->getDirectCallee()->getName() == "__builtin_expect")
      E = Call->getArg(0);
    else
      return E;
  }
}

/// Parts that are fixed where `Index == Other`.
unsigned fixedByEquality(const Expr *Index, const Expr *Other, ValueOf Values,
                         const clang::ASTContext &Context) {
  IndexShape Shape = Values(Index).Shape;
  if (!Shape.Parts)
    return 0;
  if (isConstant(Other, 0, Context))
    return Shape.Parts;
  Value Against = Values(Other);
  bool SameInGroup =
      Against.Level == Scope::Grid || (Against.Level == Scope::Block && !(Shape.Parts & AllBlock));
  return Shape.Injective && SameInGroup ? Shape.Parts : 0;
}

/// Parts that are zero where `Index < Bound` (or `Index <= Bound`).
unsigned fixedByBound(const Expr *Index, const Expr *Bound, bool OrEqual, ValueOf Values,
                      const clang::ASTContext &Context) {
  return isConstant(Bound, OrEqual ? 0 : 1, Context) ? Values(Index).Shape.Parts : 0;
}

unsigned selectedByComparison(const BinaryOperator *E, bool Truth, ValueOf Values,
                              const clang::ASTContext &Context) {
  const Expr *L = E->getLHS(), *R = E->getRHS();
  switch (Truth ? E->getOpcode() : BinaryOperator::negateComparisonOp(E->getOpcode())) {
  case clang::BO_EQ: {
    unsigned Left = fixedByEquality(L, R, Values, Context);
    return Left | fixedByEquality(R, L, Values, Context);
  }
  case clang::BO_LT:
    return fixedByBound(L, R, false, Values, Context);
  case clang::BO_LE:
    return fixedByBound(L, R, true, Values, Context);
  case clang::BO_GT:
    return fixedByBound(R, L, false, Values, Context);
  case clang::BO_GE:
    return fixedByBound(R, L, true, Values, Context);
  default:
    return 0;
  }
}

} // namespace

IndexShape shapeOf(const BinaryOperator *E, const Value &Left, const Value &Right) {
  switch (E->getOpcode()) {
  case clang::BO_Add:
    return sumOf(Left.Shape, Right.Shape);
  case clang::BO_Mul:
    return productOf(Left.Shape, Right.Shape);
  case clang::BO_Or: {
    IndexShape Union;
    if (Left.Shape.Parts && Right.Shape.Parts)
      Union.Parts = Left.Shape.Parts | Right.Shape.Parts;
    return Union;
  }
  case clang::BO_And:
  case clang::BO_LAnd: {
    IndexShape Both;
    bool Booleans = E->getOpcode() == clang::BO_LAnd;
    for (const Expr *Side : {E->getLHS(), E->getRHS()})
      Booleans |= Side->IgnoreParenImpCasts()->getType()->isBooleanType();
    if (Booleans)
      Both.Selects = Left.Shape.Selects | Right.Shape.Selects;
    return Both;
  }
  default:
    return {};
  }
}

IndexShape convertedShape(const IndexShape &Shape, clang::QualType From, clang::QualType To,
                          const clang::ASTContext &Context) {
  if (To->isBooleanType()) {
    IndexShape Truth;
    Truth.Selects = Shape.Selects;
    Truth.Parts = Shape.Parts;
    return Truth;
  }
  if (From->isBooleanType())
    return Shape;
  if (!To->isIntegralOrEnumerationType() || !From->isIntegralOrEnumerationType() ||
      Context.getTypeSize(To) < 32)
    return {};
  return Shape;
}

unsigned selectedParts(const Expr *Condition, bool Truth, ValueOf Values,
                       const clang::ASTContext &Context) {
  const Expr *E = plain(Condition);
  if (const auto *Not = llvm::dyn_cast<clang::UnaryOperator>(E);
      Not && Not->getOpcode() == clang::UO_LNot)
    return selectedParts(Not->getSubExpr(), !Truth, Values, Context);
  if (const auto *Binary = llvm::dyn_cast<BinaryOperator>(E)) {
    if (Binary->getOpcode() == (Truth ? clang::BO_LAnd : clang::BO_LOr)) {
      unsigned Left = selectedParts(Binary->getLHS(), Truth, Values, Context);
      return Left | selectedParts(Binary->getRHS(), Truth, Values, Context);
    }
    if (Binary->isComparisonOp())
      return selectedByComparison(Binary, Truth, Values, Context);
  }
  IndexShape Shape = Values(Condition).Shape;
  return Truth ? Shape.Selects : Shape.Parts;
}

bool selectsOneThread(unsigned Fixed, unsigned UsedParts) {
  unsigned Needed = (UsedParts & AllThread) | ThreadX;
  return (Fixed & Needed) == Needed;
}

bool selectsOneBlock(unsigned Fixed, unsigned UsedParts) {
  unsigned Needed = (UsedParts & AllBlock) | BlockX;
  return (Fixed & Needed) == Needed;
}

} // namespace gmpi::translate
