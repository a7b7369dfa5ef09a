// Names, members, captures, and expressions that make objects.
#include "Interpreter.h"
#include "clang/AST/DeclTemplate.h"

namespace gmpi::translate {

using clang::Expr;

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

/// A member of the object at an address.
Value Interpreter::partOf(const Value &Address, const clang::FieldDecl *Field) {
  Value Part = Address;
  Part.Shape = {};
  Part.Targets.clear();
  for (Place Target : Address.Targets) {
    // The members of a union are one object.
    if (Target.Memory == Place::Kind::Local && !Target.Inexact && !Field->getParent()->isUnion())
      Target.Steps.push_back({Field});
    Part.addTarget(Target);
  }
  return Part;
}

/// `dim3 all = blockIdx`: component by component.
Value Interpreter::builtinObject(BuiltinVariable Variable, const Expr *E) {
  Value Own = temporary(E);
  Now.Memory.write(Own.Targets[0], builtinComponent(Variable, "", E));
  if (const auto *Record = E->getType()->getAsRecordDecl())
    for (const clang::FieldDecl *Field : Record->fields()) {
      Place Part = Own.Targets[0];
      Part.Steps.push_back({Field});
      Now.Memory.write(Part, builtinComponent(Variable, Field->getName(), E));
    }
  return Own;
}

std::optional<Value> Interpreter::captured(const clang::ValueDecl *Variable) {
  auto Found = Captures.find(Variable);
  if (Found == Captures.end())
    return std::nullopt;
  Value Field = partOf(In.This, Found->second);
  if (!Found->second->getType()->isReferenceType())
    return Field;
  Value Address = Value::undefined();
  for (const Place &Target : Field.Targets)
    if (Target.Memory == Place::Kind::Local)
      Address.joinWith(Now.Memory.read(Target));
    else
      Address.joinWith(anywhere());
  Address.lower(Field);
  return Address;
}

Value Interpreter::thisPointer(const Expr *E) {
  if (!ThisCapture)
    return In.This;
  Value Field = partOf(In.This, ThisCapture);
  return ThisCapture->getType()->isPointerType() ? load(Field, ThisCapture->getType(), E) : Field;
}

/// threadIdx and its kin are objects with properties in Clang's headers.
Value Interpreter::property(const clang::MSPropertyRefExpr *E) {
  const Expr *Object = E->getBaseExpr()->IgnoreParenImpCasts();
  if (const auto *Opaque = llvm::dyn_cast<clang::OpaqueValueExpr>(Object))
    Object = Opaque->getSourceExpr()->IgnoreParenImpCasts();
  if (const auto *Base = llvm::dyn_cast<clang::DeclRefExpr>(Object))
    if (auto Variable = builtinVariable(Base->getDecl()))
      return builtinComponent(*Variable, E->getPropertyDecl()->getName(), E);
  return unknown(E, "`" + Shared.text(E) + "`", "which is not understood");
}

Value Interpreter::reference(const clang::DeclRefExpr *E) {
  const clang::ValueDecl *Declaration = E->getDecl();
  // By itself: a whole dim3, or warpSize. Its address leads to what it holds.
  if (auto Variable = builtinVariable(Declaration))
    return builtinObject(*Variable, E);
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
    if (auto Variable = builtinVariable(Base->getDecl());
        Variable && Declaration->getIdentifier()) {
      Value Own = temporary(E);
      Now.Memory.write(Own.Targets[0], builtinComponent(*Variable, Declaration->getName(), E));
      return Own;
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
  Value Part = partOf(Address, Field);
  return Field->getType()->isReferenceType() ? load(Part, Field->getType(), E) : Part;
}

/// Global memory of which nothing is known.
Value Interpreter::anywhere() {
  Place Unknown;
  Unknown.Memory = Place::Kind::Global;
  return Value::pointerTo(Unknown);
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

Value Interpreter::materialized(const clang::MaterializeTemporaryExpr *E) {
  const Expr *Sub = E->getSubExpr();
  Value V = value(Sub);
  if (Sub->getType()->isRecordType() || Sub->getType()->isArrayType())
    return V;
  Value Own = temporary(E);
  Now.Memory.write(Own.Targets[0], V);
  return Own;
}

/// An object whose parts are not told apart.
Value Interpreter::wholeObject(const Expr *E) {
  if (!E->getType()->isRecordType() && !E->getType()->isArrayType() && !E->isGLValue())
    return joinOfChildren(E);
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

} // namespace gmpi::translate
