#include "SingleThread.h"
#include "KnownFunctions.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/RecursiveASTVisitor.h"
#include "llvm/ADT/StringExtras.h"

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

Selection operator|(const Selection &A, const Selection &B) {
  return {A.Fixed | B.Fixed, A.Zero | B.Zero};
}

/// Where `Index == Other`.
Selection fixedByEquality(const Expr *Index, const Expr *Other, ValueOf Values,
                          const clang::ASTContext &Context) {
  IndexShape Shape = Values(Index).Shape;
  if (!Shape.Parts)
    return {};
  if (isConstant(Other, 0, Context))
    return {Shape.Parts, Shape.Parts};
  Value Against = Values(Other);
  bool SameInGroup =
      Against.Level == Scope::Grid || (Against.Level == Scope::Block && !(Shape.Parts & AllBlock));
  return {Shape.Injective && SameInGroup ? Shape.Parts : 0, 0};
}

/// Where `Index < Bound` (or `Index <= Bound`).
Selection fixedByBound(const Expr *Index, const Expr *Bound, bool OrEqual, ValueOf Values,
                       const clang::ASTContext &Context) {
  unsigned Parts = isConstant(Bound, OrEqual ? 0 : 1, Context) ? Values(Index).Shape.Parts : 0;
  return {Parts, Parts};
}

clang::BinaryOperatorKind comparison(const BinaryOperator *E, bool Truth) {
  return Truth ? E->getOpcode() : BinaryOperator::negateComparisonOp(E->getOpcode());
}

Selection selectedByComparison(const BinaryOperator *E, bool Truth, ValueOf Values,
                               const clang::ASTContext &Context) {
  const Expr *L = E->getLHS(), *R = E->getRHS();
  switch (comparison(E, Truth)) {
  case clang::BO_EQ:
    return fixedByEquality(L, R, Values, Context) | fixedByEquality(R, L, Values, Context);
  case clang::BO_LT:
    return fixedByBound(L, R, false, Values, Context);
  case clang::BO_LE:
    return fixedByBound(L, R, true, Values, Context);
  case clang::BO_GT:
    return fixedByBound(R, L, false, Values, Context);
  case clang::BO_GE:
    return fixedByBound(R, L, true, Values, Context);
  default:
    return {};
  }
}

/// Whether a function does nothing with a variable but read it.
class OnlyRead : public clang::RecursiveASTVisitor<OnlyRead> {
public:
  explicit OnlyRead(const clang::VarDecl *Variable) : Variable(Variable) {}
  bool shouldVisitImplicitCode() const { return true; }
  bool VisitDeclRefExpr(clang::DeclRefExpr *E) {
    Named += E->getDecl() == Variable;
    return true;
  }
  bool VisitImplicitCastExpr(clang::ImplicitCastExpr *E) {
    const auto *Name = llvm::dyn_cast<clang::DeclRefExpr>(E->getSubExpr()->IgnoreParens());
    Read += E->getCastKind() == clang::CK_LValueToRValue && Name && Name->getDecl() == Variable;
    return true;
  }
  bool holdsIn(const clang::FunctionDecl *Function) {
    TraverseStmt(Function->getBody());
    return Named == Read;
  }

private:
  const clang::VarDecl *Variable;
  unsigned Named = 0, Read = 0;
};

/// The variable that an expression reads, if nothing is done with it but that.
const clang::VarDecl *readVariable(const Expr *E, const clang::FunctionDecl *In) {
  const auto *Name = llvm::dyn_cast<clang::DeclRefExpr>(E);
  const auto *Variable = Name ? llvm::dyn_cast<clang::VarDecl>(Name->getDecl()) : nullptr;
  return Variable && Variable->hasLocalStorage() && Variable->getDeclContext() == In &&
                 OnlyRead(Variable).holdsIn(In)
             ? Variable
             : nullptr;
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
    if (Booleans) {
      Both.Selects = Left.Shape.Selects | Right.Shape.Selects;
      Both.Zero = Left.Shape.Zero | Right.Shape.Zero;
    }
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
    Truth.Zero = Shape.Zero;
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

Selection selectedParts(const Expr *Condition, bool Truth, ValueOf Values,
                        const clang::ASTContext &Context) {
  const Expr *E = plain(Condition);
  if (const auto *Not = llvm::dyn_cast<clang::UnaryOperator>(E);
      Not && Not->getOpcode() == clang::UO_LNot)
    return selectedParts(Not->getSubExpr(), !Truth, Values, Context);
  if (const auto *Binary = llvm::dyn_cast<BinaryOperator>(E)) {
    if (Binary->getOpcode() == (Truth ? clang::BO_LAnd : clang::BO_LOr))
      return selectedParts(Binary->getLHS(), Truth, Values, Context) |
             selectedParts(Binary->getRHS(), Truth, Values, Context);
    if (Binary->isComparisonOp())
      return selectedByComparison(Binary, Truth, Values, Context);
  }
  IndexShape Shape = Values(Condition).Shape;
  return Truth ? Selection{Shape.Selects, Shape.Zero} : Selection{Shape.Parts, Shape.Parts};
}

void selectingComparisons(const Expr *Condition, bool Truth, ValueOf Values,
                          const clang::FunctionDecl *In,
                          llvm::function_ref<void(unsigned, const BinaryOperator *)> Visit) {
  const Expr *E = plain(Condition);
  if (const auto *Not = llvm::dyn_cast<clang::UnaryOperator>(E);
      Not && Not->getOpcode() == clang::UO_LNot)
    return selectingComparisons(Not->getSubExpr(), !Truth, Values, In, Visit);
  if (const auto *Binary = llvm::dyn_cast<BinaryOperator>(E)) {
    if (Binary->getOpcode() == (Truth ? clang::BO_LAnd : clang::BO_LOr))
      for (const Expr *Side : {Binary->getLHS(), Binary->getRHS()})
        selectingComparisons(Side, Truth, Values, In, Visit);
    else if (Binary->isComparisonOp() && comparison(Binary, Truth) == clang::BO_EQ)
      for (const Expr *Side : {Binary->getLHS(), Binary->getRHS()})
        if (IndexShape Shape = Values(Side).Shape; Shape.Parts && Shape.Injective)
          Visit(Shape.Parts, Binary);
    return;
  }
  if (const clang::VarDecl *Variable = readVariable(E, In); Variable && Variable->getInit())
    selectingComparisons(Variable->getInit(), Truth, Values, In, Visit);
}

std::optional<std::string> invariantText(const Expr *E, const clang::FunctionDecl *In) {
  E = plain(E);
  if (auto Constant = constantOf(E, In->getASTContext()))
    return llvm::toString(*Constant, 10);
  if (const auto *Binary = llvm::dyn_cast<BinaryOperator>(E);
      Binary && (Binary->isAdditiveOp() || Binary->isMultiplicativeOp())) {
    auto Left = invariantText(Binary->getLHS(), In), Right = invariantText(Binary->getRHS(), In);
    if (Left && Right)
      return "(" + *Left + " " + Binary->getOpcodeStr().str() + " " + *Right + ")";
    return std::nullopt;
  }
  // `threadIdx.x`: a property, or a member.
  if (const auto *Pseudo = llvm::dyn_cast<clang::PseudoObjectExpr>(E))
    return invariantText(Pseudo->getSyntacticForm(), In);
  const Expr *Base = nullptr;
  std::string Part;
  if (const auto *Property = llvm::dyn_cast<clang::MSPropertyRefExpr>(E)) {
    Base = Property->getBaseExpr();
    Part = Property->getPropertyDecl()->getNameAsString();
  } else if (const auto *Member = llvm::dyn_cast<clang::MemberExpr>(E)) {
    Base = Member->getBase();
    Part = Member->getMemberDecl()->getNameAsString();
  }
  if (Base) {
    if (const auto *Opaque = llvm::dyn_cast<clang::OpaqueValueExpr>(Base))
      Base = Opaque->getSourceExpr();
    const auto *Name = llvm::dyn_cast<clang::DeclRefExpr>(Base->IgnoreParenImpCasts());
    if (!Name || !builtinVariable(Name->getDecl()))
      return std::nullopt;
    return Name->getDecl()->getNameAsString() + "." + Part;
  }
  const clang::VarDecl *Variable = readVariable(E, In);
  if (!Variable)
    return std::nullopt;
  if (!llvm::isa<clang::ParmVarDecl>(Variable))
    return Variable->getInit() ? invariantText(Variable->getInit(), In) : std::nullopt;
  return In->hasAttr<clang::CUDAGlobalAttr>() ? std::optional(Variable->getNameAsString())
                                              : std::nullopt;
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
