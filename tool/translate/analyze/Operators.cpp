// Operators and conversions.
#include "Interpreter.h"

namespace gmpi::translate {

using clang::Expr;

Value Interpreter::convert(const clang::CastExpr *E) {
  const Expr *Sub = E->getSubExpr();
  Value V = value(Sub);
  switch (E->getCastKind()) {
  case clang::CK_LValueToRValue:
    return load(V, E->getType(), Sub);
  case clang::CK_ArrayToPointerDecay: {
    Value Pointer = V;
    Pointer.Targets.clear();
    for (Place Target : V.Targets) {
      if (Target.Memory == Place::Kind::Local && !Target.Inexact && !Target.type().isNull() &&
          Target.type()->isArrayType())
        Target.Steps.push_back({nullptr, 0});
      Pointer.addTarget(Target);
    }
    return Pointer;
  }
  case clang::CK_LValueToRValueBitCast: {
    return contents(V, false, Sub);
  }
  case clang::CK_IntegralCast:
  case clang::CK_IntegralToBoolean:
  case clang::CK_BooleanToSignedIntegral:
  case clang::CK_IntegralToFloating:
  case clang::CK_FloatingToIntegral:
    V.Shape = convertedShape(V.Shape, Sub->getType(), E->getType(), Shared.Ast);
    return V;
  case clang::CK_IntegralToPointer: {
    V.addTargets(anywhere());
    V.Shape = {};
    return V;
  }
  case clang::CK_ToVoid:
    return Value();
  case clang::CK_ConstructorConversion:
  case clang::CK_UserDefinedConversion:
  case clang::CK_NoOp:
    return V;
  default:
    V.Shape = {};
    return V;
  }
}

/// A pointer moved by a number of elements.
Value Interpreter::moved(Value Pointer, const Expr *By, bool FromArray) {
  Value Result = Pointer;
  Result.Shape = {};
  Result.Targets.clear();
  clang::Expr::EvalResult Constant;
  bool IsConstant = By && !By->isValueDependent() && By->EvaluateAsInt(Constant, Shared.Ast);
  int64_t Distance = IsConstant && Constant.Val.getInt().getSignificantBits() <= 32
                         ? Constant.Val.getInt().getExtValue()
                         : -1;
  for (Place Target : Pointer.Targets) {
    if (Target.Memory == Place::Kind::Local && !(IsConstant && Distance == 0)) {
      bool IsElement = !Target.Inexact && !Target.Steps.empty() && !Target.Steps.back().Field;
      if (!IsElement)
        Target.Inexact = true;
      else if (FromArray && Target.Steps.back().Index == 0 && Distance > 0 && Distance < 256)
        Target.Steps.back().Index = static_cast<int>(Distance);
      else
        Target.Steps.back().Index = PathStep::AnyIndex;
      if (Target.Inexact)
        Target.Steps.clear();
    }
    Result.addTarget(Target);
  }
  return Result;
}

Value Interpreter::subscript(const clang::ArraySubscriptExpr *E) {
  const Expr *Base = E->getBase(), *Index = E->getIdx();
  bool FromArray = false;
  if (const auto *Decay = llvm::dyn_cast<clang::ImplicitCastExpr>(Base->IgnoreParens()))
    FromArray = Decay->getCastKind() == clang::CK_ArrayToPointerDecay;
  Value Element = moved(value(Base), Index, FromArray);
  Element.lower(value(Index));
  Element.Shape = {};
  return Element;
}

Value Interpreter::unary(const clang::UnaryOperator *E) {
  const Expr *Sub = E->getSubExpr();
  Value V = value(Sub);
  switch (E->getOpcode()) {
  case clang::UO_AddrOf:
  case clang::UO_Deref:
  case clang::UO_Plus:
  case clang::UO_Extension:
    return V;
  case clang::UO_PreInc:
  case clang::UO_PreDec:
  case clang::UO_PostInc:
  case clang::UO_PostDec: {
    Value Old = load(V, Sub->getType(), Sub);
    Value New = Sub->getType()->isPointerType() ? moved(Old, nullptr, false) : Old;
    New.Shape = {};
    store(V, Sub->getType(), New, E);
    if (E->isGLValue())
      return V;
    return E->isPostfix() ? Old : New;
  }
  case clang::UO_LNot: {
    Value Not = V;
    Not.Shape = {};
    Not.Shape.Selects = Not.Shape.Zero = V.Shape.Parts;
    Not.Targets.clear();
    return Not;
  }
  default:
    V.Shape = {};
    return V;
  }
}

Value Interpreter::binary(const clang::BinaryOperator *E) {
  if (E->isAssignmentOp())
    return assign(E);
  if (E->getOpcode() == clang::BO_Comma)
    return value(E->getRHS());
  if (E->isPtrMemOp()) {
    Value Object = joinOfChildren(E);
    Value Anywhere = Object;
    Anywhere.Targets.clear();
    for (Place Target : Object.Targets) {
      Target.Inexact = Target.Memory == Place::Kind::Local;
      Target.Steps.clear();
      Anywhere.addTarget(Target);
    }
    return Anywhere;
  }
  Value Left = value(E->getLHS()), Right = value(E->getRHS());
  if (E->isAdditiveOp() && E->getType()->isPointerType()) {
    bool LeftIsPointer = E->getLHS()->getType()->isPointerType();
    const Expr *Base = LeftIsPointer ? E->getLHS() : E->getRHS();
    const Expr *By = LeftIsPointer ? E->getRHS() : E->getLHS();
    const auto *Decay = llvm::dyn_cast<clang::ImplicitCastExpr>(Base->IgnoreParens());
    bool FromArray = Decay && Decay->getCastKind() == clang::CK_ArrayToPointerDecay &&
                     E->getOpcode() == clang::BO_Add;
    Value Moved = moved(LeftIsPointer ? Left : Right, By, FromArray);
    Moved.lower(LeftIsPointer ? Right : Left);
    return Moved;
  }
  Value Joined;
  Joined.lower(Left);
  Joined.lower(Right);
  if (!E->isComparisonOp() && !E->isLogicalOp()) {
    Joined.addTargets(Left);
    Joined.addTargets(Right);
  }
  Joined.Shape = shapeOf(E, Left, Right);
  if (E->isComparisonOp()) {
    Selection Selected = selectedParts(
        E, true, [this](const Expr *Sub) { return value(Sub); }, Shared.Ast);
    Joined.Shape.Selects = Selected.Fixed;
    Joined.Shape.Zero = Selected.Zero;
  }
  return Joined;
}

Value Interpreter::assign(const clang::BinaryOperator *E) {
  Value Address = value(E->getLHS()), New = value(E->getRHS());
  clang::QualType Type = E->getLHS()->getType();
  if (Type->isRecordType()) {
    copyObject(Address, New, Type, E);
    return Address;
  }
  if (const auto *Compound = llvm::dyn_cast<clang::CompoundAssignOperator>(E)) {
    Value Old = load(Address, Type, E->getLHS());
    if (Type->isPointerType())
      Old = moved(Old, nullptr, false);
    Old.lower(New);
    Old.addTargets(New);
    // `leader &= threadIdx.y == 0`: still what it was, and more.
    IndexShape Shape;
    if (Compound->getOpcode() == clang::BO_AndAssign && Type->isBooleanType()) {
      Shape.Selects = Old.Shape.Selects | New.Shape.Selects;
      Shape.Zero = Old.Shape.Zero | New.Shape.Zero;
    }
    Old.Shape = Shape;
    New = Old;
  }
  store(Address, Type, New, E);
  return E->isGLValue() ? Address : New;
}

/// Both sides, as far as the condition is the same; the sides were evaluated in blocks of their
/// own.
Value Interpreter::choice(const clang::AbstractConditionalOperator *E) {
  bool Known;
  if (!E->getCond()->isValueDependent() && !E->getCond()->HasSideEffects(Shared.Ast) &&
      E->getCond()->EvaluateAsBooleanCondition(Known, Shared.Ast) &&
      llvm::isa<clang::ConditionalOperator>(E))
    return value(Known ? E->getTrueExpr() : E->getFalseExpr());
  Value Condition = value(E->getCond());
  Value Chosen = value(E->getTrueExpr());
  Chosen.joinWith(value(E->getFalseExpr()));
  if (Chosen.Undefined)
    Chosen = Value();
  bool IsObject = E->getType()->isRecordType() && !E->isGLValue();
  Chosen.lower(Condition);
  if (!IsObject)
    return Chosen;
  Value Own = temporary(E);
  copyObject(Own, Chosen, E->getType(), E);
  return Own;
}

} // namespace gmpi::translate
