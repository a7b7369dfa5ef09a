// Expressions. The value of a glvalue, and of an object that has no name, is its address.
#include "Interpreter.h"
#include "clang/AST/DeclTemplate.h"

namespace gmpi::translate {

using clang::Expr;

Value Interpreter::value(const Expr *E) {
  // A block's elements are evaluated in order, and their values stay for whoever uses them later.
  if (auto Known = Values.find(E); Known != Values.end())
    return Known->second;
  return compute(E);
}

Value Interpreter::joinOfChildren(const clang::Stmt *S) {
  Value Joined;
  for (const clang::Stmt *Child : S->children())
    if (const auto *E = llvm::dyn_cast_if_present<Expr>(Child)) {
      Value V = value(E);
      Joined.lower(V);
      Joined.addTargets(V);
    }
  return Joined;
}

Value Interpreter::unknown(const Expr *E, std::string What, std::string Detail) {
  return Value::varying(
      Scope::Thread, Shared.Why.get({E->getExprLoc(), std::move(What), std::move(Detail), false}));
}

Value Interpreter::seed(const Expr *E, Scope Level, bool Proven) {
  return Value::varying(Level,
                        Shared.Why.get({E->getBeginLoc(), "`" + Shared.text(E) + "`", "", Proven}));
}

Value Interpreter::compute(const Expr *E) {
  switch (E->getStmtClass()) {
  case clang::Stmt::IntegerLiteralClass:
  case clang::Stmt::FloatingLiteralClass:
  case clang::Stmt::CharacterLiteralClass:
  case clang::Stmt::CXXBoolLiteralExprClass:
  case clang::Stmt::CXXNullPtrLiteralExprClass:
  case clang::Stmt::GNUNullExprClass:
  case clang::Stmt::UnaryExprOrTypeTraitExprClass:
  case clang::Stmt::SizeOfPackExprClass:
  case clang::Stmt::TypeTraitExprClass:
  case clang::Stmt::OffsetOfExprClass:
  case clang::Stmt::ImplicitValueInitExprClass:
  case clang::Stmt::CXXScalarValueInitExprClass:
  case clang::Stmt::CXXNoexceptExprClass:
  case clang::Stmt::ConceptSpecializationExprClass:
  case clang::Stmt::RequiresExprClass:
  case clang::Stmt::NoInitExprClass:
  case clang::Stmt::SourceLocExprClass:
    return Value();
  case clang::Stmt::StringLiteralClass:
  case clang::Stmt::PredefinedExprClass: {
    Place Constant;
    Constant.Memory = Place::Kind::Global;
    return Value::pointerTo(Constant);
  }
  case clang::Stmt::DeclRefExprClass:
    return reference(llvm::cast<clang::DeclRefExpr>(E));
  case clang::Stmt::MemberExprClass:
    return member(llvm::cast<clang::MemberExpr>(E));
  case clang::Stmt::ArraySubscriptExprClass: {
    const auto *Subscript = llvm::cast<clang::ArraySubscriptExpr>(E);
    return subscript(Subscript->getBase(), Subscript->getIdx(), E);
  }
  case clang::Stmt::UnaryOperatorClass:
    return unary(llvm::cast<clang::UnaryOperator>(E));
  case clang::Stmt::BinaryOperatorClass:
  case clang::Stmt::CompoundAssignOperatorClass:
    return binary(llvm::cast<clang::BinaryOperator>(E));
  case clang::Stmt::ConditionalOperatorClass:
  case clang::Stmt::BinaryConditionalOperatorClass:
    return choice(llvm::cast<clang::AbstractConditionalOperator>(E));
  case clang::Stmt::ImplicitCastExprClass:
  case clang::Stmt::CStyleCastExprClass:
  case clang::Stmt::CXXStaticCastExprClass:
  case clang::Stmt::CXXReinterpretCastExprClass:
  case clang::Stmt::CXXConstCastExprClass:
  case clang::Stmt::CXXFunctionalCastExprClass:
  case clang::Stmt::BuiltinBitCastExprClass:
    return convert(llvm::cast<clang::CastExpr>(E));
  case clang::Stmt::ParenExprClass:
    return value(llvm::cast<clang::ParenExpr>(E)->getSubExpr());
  case clang::Stmt::ConstantExprClass:
  case clang::Stmt::ExprWithCleanupsClass:
    return value(llvm::cast<clang::FullExpr>(E)->getSubExpr());
  case clang::Stmt::CXXBindTemporaryExprClass:
    return value(llvm::cast<clang::CXXBindTemporaryExpr>(E)->getSubExpr());
  case clang::Stmt::SubstNonTypeTemplateParmExprClass:
    return value(llvm::cast<clang::SubstNonTypeTemplateParmExpr>(E)->getReplacement());
  case clang::Stmt::CXXDefaultArgExprClass:
    return compute(llvm::cast<clang::CXXDefaultArgExpr>(E)->getExpr());
  case clang::Stmt::CXXDefaultInitExprClass:
    return compute(llvm::cast<clang::CXXDefaultInitExpr>(E)->getExpr());
  case clang::Stmt::CXXRewrittenBinaryOperatorClass:
    return value(llvm::cast<clang::CXXRewrittenBinaryOperator>(E)->getSemanticForm());
  case clang::Stmt::OpaqueValueExprClass:
    if (const Expr *Source = llvm::cast<clang::OpaqueValueExpr>(E)->getSourceExpr())
      return value(Source);
    return unknown(E, "`" + Shared.text(E) + "`", "which is not understood");
  case clang::Stmt::StmtExprClass: {
    const auto *Body = llvm::cast<clang::StmtExpr>(E)->getSubStmt();
    const auto *Last = Body->body_empty() ? nullptr : llvm::dyn_cast<Expr>(Body->body_back());
    return Last && !E->getType()->isVoidType() ? value(Last) : Value();
  }
  case clang::Stmt::PseudoObjectExprClass: {
    const auto *Object = llvm::cast<clang::PseudoObjectExpr>(E);
    if (const auto *Property = llvm::dyn_cast<clang::MSPropertyRefExpr>(
            Object->getSyntacticForm()->IgnoreParenImpCasts()))
      return compute(Property);
    return Object->getResultExpr() ? value(Object->getResultExpr()) : joinOfChildren(E);
  }
  case clang::Stmt::MSPropertyRefExprClass: {
    // threadIdx and its kin are objects with properties in Clang's headers.
    const auto *Property = llvm::cast<clang::MSPropertyRefExpr>(E);
    const Expr *Object = Property->getBaseExpr()->IgnoreParenImpCasts();
    if (const auto *Opaque = llvm::dyn_cast<clang::OpaqueValueExpr>(Object))
      Object = Opaque->getSourceExpr()->IgnoreParenImpCasts();
    if (const auto *Base = llvm::dyn_cast<clang::DeclRefExpr>(Object))
      if (auto Variable = builtinVariable(Base->getDecl()))
        return builtinComponent(*Variable, Property->getPropertyDecl()->getName(), E);
    return unknown(E, "`" + Shared.text(E) + "`", "which is not understood");
  }
  case clang::Stmt::MaterializeTemporaryExprClass: {
    const Expr *Sub = llvm::cast<clang::MaterializeTemporaryExpr>(E)->getSubExpr();
    Value V = value(Sub);
    if (Sub->getType()->isRecordType() || Sub->getType()->isArrayType())
      return V;
    Place Own;
    Own.Root = E;
    log(Own);
    Now.Memory.write(Own, V);
    return Value::pointerTo(Own);
  }
  case clang::Stmt::InitListExprClass:
    return initializerList(llvm::cast<clang::InitListExpr>(E));
  case clang::Stmt::CXXParenListInitExprClass:
  case clang::Stmt::DesignatedInitExprClass:
  case clang::Stmt::ArrayInitLoopExprClass:
  case clang::Stmt::CompoundLiteralExprClass: {
    if (!E->getType()->isRecordType() && !E->getType()->isArrayType() && !E->isGLValue())
      return joinOfChildren(E);
    // As a whole: what any part of it holds.
    Value Whole;
    for (const clang::Stmt *Child : E->children())
      if (const auto *Part = llvm::dyn_cast_if_present<Expr>(Child)) {
        Value V = value(Part);
        bool IsObject =
            Part->isGLValue() || Part->getType()->isRecordType() || Part->getType()->isArrayType();
        Whole.joinWith(IsObject ? contents(V, false, Part) : V);
      }
    Value Own = temporary(E);
    Now.Memory.write(Own.Targets[0], Whole);
    return Own;
  }
  case clang::Stmt::CXXThisExprClass:
    if (ThisCapture) {
      Value Field = In.This;
      Field.Targets.clear();
      for (Place Target : In.This.Targets) {
        if (Target.Memory == Place::Kind::Local)
          Target.Steps.push_back({ThisCapture});
        Field.addTarget(Target);
      }
      return ThisCapture->getType()->isPointerType() ? load(Field, ThisCapture->getType(), E)
                                                     : Field;
    }
    return In.This;
  case clang::Stmt::LambdaExprClass:
    return lambda(llvm::cast<clang::LambdaExpr>(E));
  case clang::Stmt::CallExprClass:
  case clang::Stmt::CXXMemberCallExprClass:
  case clang::Stmt::CXXOperatorCallExprClass:
  case clang::Stmt::UserDefinedLiteralClass:
    return call(llvm::cast<clang::CallExpr>(E));
  case clang::Stmt::CXXConstructExprClass:
  case clang::Stmt::CXXTemporaryObjectExprClass:
    return construct(llvm::cast<clang::CXXConstructExpr>(E));
  case clang::Stmt::CXXStdInitializerListExprClass:
  case clang::Stmt::ShuffleVectorExprClass:
  case clang::Stmt::ConvertVectorExprClass:
    return joinOfChildren(E);
  case clang::Stmt::AtomicExprClass: {
    const auto *Atomic = llvm::cast<clang::AtomicExpr>(E);
    Value Result = Value::varying(
        Scope::Thread,
        Shared.Why.get({E->getBeginLoc(), "the result of an atomic operation", "", true}));
    store(value(Atomic->getPtr()), {}, Result, E, true, true);
    return Result;
  }
  case clang::Stmt::CXXNewExprClass: {
    joinOfChildren(E);
    Place Heap;
    Heap.Memory = Place::Kind::Global;
    Value Result = Value::pointerTo(Heap);
    Result.lower(seed(E, Scope::Thread));
    return Result;
  }
  default:
    break;
  }
  Value Children = joinOfChildren(E);
  escape(Children, E->getExprLoc(), "an expression that is not understood");
  Value Result = unknown(E, "`" + Shared.text(E) + "`", "which is not understood");
  return Result;
}

/// `threadIdx.x`; all components at once where Component is empty.
Value Interpreter::builtinComponent(BuiltinVariable Variable, llvm::StringRef Component,
                                    const Expr *E) {
  bool OfThread = Variable == BuiltinVariable::ThreadIdx || Variable == BuiltinVariable::BlockDim;
  unsigned Part = indexPart(Component, OfThread);
  switch (Variable) {
  case BuiltinVariable::ThreadIdx:
  case BuiltinVariable::BlockIdx: {
    Value Index = seed(E, OfThread ? Scope::Thread : Scope::Block);
    Index.Shape.Parts = Part;
    Index.Shape.Injective = Part != 0;
    return Index;
  }
  case BuiltinVariable::BlockDim:
  case BuiltinVariable::GridDim: {
    Value Extent;
    Extent.Shape.Extents = Part;
    return Extent;
  }
  case BuiltinVariable::WarpSize:
    break;
  }
  return Value();
}

std::optional<Value> Interpreter::captured(const clang::ValueDecl *Variable) {
  auto Found = Captures.find(Variable);
  if (Found == Captures.end())
    return std::nullopt;
  Value Field = In.This;
  Field.Targets.clear();
  for (Place Target : In.This.Targets) {
    if (Target.Memory == Place::Kind::Local)
      Target.Steps.push_back({Found->second});
    Field.addTarget(Target);
  }
  if (!Found->second->getType()->isReferenceType())
    return Field;
  Value Address = Value::undefined();
  for (const Place &Target : Field.Targets)
    if (Target.Memory == Place::Kind::Local)
      Address.joinWith(Now.Memory.read(Target));
  return Address;
}

Value Interpreter::reference(const clang::DeclRefExpr *E) {
  const clang::ValueDecl *Declaration = E->getDecl();
  if (auto Variable = builtinVariable(Declaration)) {
    // By itself: a whole dim3, or warpSize. Its address leads to what it holds.
    Place Own;
    Own.Root = static_cast<const Expr *>(E);
    Now.Memory.write(Own, builtinComponent(*Variable, "", E));
    return Value::pointerTo(Own);
  }
  if (const auto *Part = llvm::dyn_cast<clang::BindingDecl>(Declaration)) {
    if (const clang::VarDecl *Holding = Part->getHoldingVar()) {
      Place Own;
      Own.Root = static_cast<const clang::ValueDecl *>(Holding);
      return Now.Memory.read(Own);
    }
    return Part->getBinding() ? compute(Part->getBinding()) : unknown(E, Shared.text(E), "");
  }
  if (llvm::isa<clang::EnumConstantDecl, clang::NonTypeTemplateParmDecl,
                clang::TemplateParamObjectDecl>(Declaration))
    return Value();
  Place Target;
  Target.Root = Declaration;
  if (llvm::isa<clang::FunctionDecl>(Declaration)) {
    Target.Memory = Place::Kind::Function;
    return Value::pointerTo(Target);
  }
  const auto *Variable = llvm::dyn_cast<clang::VarDecl>(Declaration);
  if (!Variable)
    return unknown(E, "`" + Shared.text(E) + "`", "which is not understood");
  if (E->refersToEnclosingVariableOrCapture())
    if (std::optional<Value> Field = captured(Variable))
      return *Field;
  if (Variable->hasAttr<clang::CUDASharedAttr>()) {
    Target.Memory = Place::Kind::Shared;
    Value Address = Value::pointerTo(Target);
    Address.lower(Scope::Block,
                  Shared.Why.get({E->getBeginLoc(), "`" + Shared.text(E) + "`",
                                  "which is __shared__: each block has its own", true}));
    return Address;
  }
  if (!Variable->hasLocalStorage()) {
    Target.Memory = Place::Kind::Global;
    if (!Variable->getType()->isReferenceType())
      return Value::pointerTo(Target);
    Target.Root = static_cast<const clang::ValueDecl *>(nullptr);
    return Value::pointerTo(Target);
  }
  if (Variable->getType()->isReferenceType())
    return Now.Memory.read(Target);
  return Value::pointerTo(Target);
}

Value Interpreter::member(const clang::MemberExpr *E) {
  const clang::ValueDecl *Declaration = E->getMemberDecl();
  if (const auto *Base = llvm::dyn_cast<clang::DeclRefExpr>(E->getBase()->IgnoreParenImpCasts()))
    if (auto Variable = builtinVariable(Base->getDecl())) {
      Place Own;
      Own.Root = static_cast<const Expr *>(E);
      Now.Memory.write(Own, builtinComponent(*Variable, Declaration->getName(), E));
      return Value::pointerTo(Own);
    }
  Value Address = value(E->getBase());
  const auto *Field = llvm::dyn_cast<clang::FieldDecl>(Declaration);
  if (!Field) {
    Place Target;
    Target.Root = Declaration;
    Target.Memory =
        llvm::isa<clang::FunctionDecl>(Declaration) ? Place::Kind::Function : Place::Kind::Global;
    if (llvm::isa<clang::EnumConstantDecl>(Declaration))
      return Value();
    return Value::pointerTo(Target);
  }
  Value Part = Address;
  Part.Targets.clear();
  for (Place Target : Address.Targets) {
    // The members of a union are one object.
    if (Target.Memory == Place::Kind::Local && !Target.Inexact && !Field->getParent()->isUnion())
      Target.Steps.push_back({Field});
    Part.addTarget(Target);
  }
  Part.Shape = {};
  return Field->getType()->isReferenceType() ? load(Part, Field->getType(), E) : Part;
}

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
    Place Anywhere;
    Anywhere.Memory = Place::Kind::Global;
    V.addTarget(Anywhere);
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

Value Interpreter::subscript(const Expr *Base, const Expr *Index, const Expr *E) {
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
    Not.Shape.Selects = V.Shape.Parts;
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
  Joined.Shape = shapeOf(E, Left, Right, Shared.Ast);
  if (E->isComparisonOp())
    Joined.Shape.Selects = selectedParts(
        E, true, [this](const Expr *Sub) { return value(Sub); }, Shared.Ast);
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
    if (Compound->getOpcode() == clang::BO_AndAssign && Type->isBooleanType())
      Shape.Selects = Old.Shape.Selects | New.Shape.Selects;
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

Value Interpreter::temporary(const Expr *E) {
  Place Own;
  Own.Root = E;
  log(Own);
  return Value::pointerTo(Own);
}

Value Interpreter::initializerList(const clang::InitListExpr *E) {
  if (!E->getType()->isRecordType() && !E->getType()->isArrayType())
    return E->getNumInits() == 1 && !E->getType()->isVectorType() ? value(E->getInit(0))
                                                                  : joinOfChildren(E);
  if (E->isTransparent() && E->getNumInits() == 1)
    return value(E->getInit(0));
  Value Own = temporary(E);
  Now.Memory.write(Own.Targets[0], Value());
  std::vector<const clang::FieldDecl *> Fields;
  const auto *Record = E->getType()->getAsRecordDecl();
  unsigned Bases = 0;
  if (const auto *Class = llvm::dyn_cast_if_present<clang::CXXRecordDecl>(Record))
    Bases = Class->getNumBases();
  if (Record)
    for (const clang::FieldDecl *Field : Record->fields())
      if (!Field->isUnnamedBitField())
        Fields.push_back(Field);
  for (unsigned I = 0; I < E->getNumInits(); ++I) {
    const Expr *Init = E->getInit(I);
    Place Part = Own.Targets[0];
    clang::QualType Type = Init->getType();
    if (Record && I >= Bases && I - Bases < Fields.size() && !Record->isUnion()) {
      Part.Steps.push_back({Fields[I - Bases]});
      Type = Fields[I - Bases]->getType();
    } else if (!Record && I < 256) {
      Part.Steps.push_back({nullptr, static_cast<int>(I)});
    } else {
      bool IsObject = Type->isRecordType() || Type->isArrayType();
      Value V = value(Init);
      Now.Memory.writeMaybe(Part, IsObject ? contents(V, false, Init) : V);
      continue;
    }
    bind(Part, Type, value(Init), Init);
  }
  return Own;
}

Value Interpreter::lambda(const clang::LambdaExpr *E) {
  Value Own = temporary(E);
  Now.Memory.write(Own.Targets[0], Value());
  auto Field = E->getLambdaClass()->field_begin();
  for (const Expr *Init : E->capture_inits()) {
    Place Part = Own.Targets[0];
    Part.Steps.push_back({*Field});
    if (Init)
      bind(Part, Field->getType(), value(Init), Init);
    ++Field;
  }
  return Own;
}

} // namespace gmpi::translate
