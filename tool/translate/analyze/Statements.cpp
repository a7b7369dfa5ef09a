// The elements of a control flow graph's blocks: expressions, declarations, initialisers, returns,
// destructors.
#include "Interpreter.h"

namespace gmpi::translate {

namespace {

Place placeOf(const clang::ValueDecl *Declaration) {
  Place P;
  P.Root = Declaration;
  return P;
}

} // namespace

void Interpreter::evaluate(const clang::CFGElement &Element) {
  if (auto S = Element.getAs<clang::CFGStmt>())
    evaluateStatement(S->getStmt());
  else if (auto Initializer = Element.getAs<clang::CFGInitializer>())
    initialize(Initializer->getInitializer());
  else if (auto Destructor = Element.getAs<clang::CFGAutomaticObjDtor>())
    destroy(Destructor->getVarDecl(), Destructor->getDestructorDecl(Shared.Ast));
}

void Interpreter::evaluateStatement(const clang::Stmt *S) {
  if (const auto *E = llvm::dyn_cast<clang::Expr>(S)) {
    Values[E] = compute(E);
  } else if (const auto *Declarations = llvm::dyn_cast<clang::DeclStmt>(S)) {
    for (const clang::Decl *Declaration : Declarations->decls())
      if (const auto *Variable = llvm::dyn_cast<clang::VarDecl>(Declaration))
        declare(Variable);
  } else if (const auto *Return = llvm::dyn_cast<clang::ReturnStmt>(S)) {
    returnValue(Return);
  } else if (llvm::isa<clang::AsmStmt>(S)) {
    assembly(S);
  }
}

void Interpreter::declare(const clang::VarDecl *Variable) {
  if (const auto *Parts = llvm::dyn_cast<clang::DecompositionDecl>(Variable))
    for (const clang::BindingDecl *Part : Parts->bindings())
      if (const clang::VarDecl *Holding = Part->getHoldingVar())
        declare(Holding);
  if (!Variable->hasLocalStorage())
    return;
  Place Own = placeOf(Variable);
  log(Own);
  if (const clang::Expr *Init = Variable->getInit())
    bind(Own, Variable->getType(), value(Init), Init);
  else
    Now.Memory.write(Own, Value::undefined());
}

void Interpreter::initialize(const clang::CXXCtorInitializer *Initializer) {
  Value Object = In.This;
  const clang::Expr *Init = Initializer->getInit();
  Value V = value(Init);
  if (!Initializer->isAnyMemberInitializer()) {
    // A base class, or this class by another constructor: its parts beside those there are.
    for (const Place &From : V.Targets)
      if (Object.Targets.size() == 1 && Object.Targets[0].Memory == Place::Kind::Local &&
          Object.Targets[0].isExact() && From.Memory == Place::Kind::Local && From.isExact()) {
        log(Object.Targets[0]);
        Now.Memory.overlay(Object.Targets[0], From);
      } else {
        store(Object, {}, contents(V, false, Init), Init, false, true);
      }
    return;
  }
  const clang::FieldDecl *Field = Initializer->getAnyMember();
  Value Member = partOf(Object, Field);
  if (Field->getType()->isRecordType() || Field->getType()->isArrayType())
    copyObject(Member, V, Field->getType(), Init);
  else
    store(Member, Field->getType(), V, Init);
}

void Interpreter::returnValue(const clang::ReturnStmt *Return) {
  const clang::Expr *E = Return->getRetValue();
  if (!E || In.Function->getReturnType()->isVoidType())
    return;
  Place Own = placeOf(In.Function);
  log(Own);
  bind(Own, In.Function->getReturnType(), value(E), E);
}

/// A variable, parameter or result takes its value: a reference is bound, an object is copied.
void Interpreter::bind(const Place &To, clang::QualType Type, const Value &V,
                       const clang::Expr *E) {
  if (!Type->isReferenceType() && (Type->isRecordType() || Type->isArrayType()))
    copyObject(Value::pointerTo(To), V, Type, E);
  else
    Now.Memory.write(To, V);
}

/// Whatever it writes may be anything; whatever it is given may be changed by it.
void Interpreter::assembly(const clang::Stmt *S) {
  const auto *Asm = llvm::cast<clang::AsmStmt>(S);
  const Cause *Why =
      Shared.Why.get({S->getBeginLoc(), "the assembly", "whose result is not known", false});
  for (unsigned I = 0; I < Asm->getNumInputs(); ++I)
    if (const clang::Expr *E = Asm->getInputExpr(I))
      escape(value(E), S->getBeginLoc(), "assembly");
  for (unsigned I = 0; I < Asm->getNumOutputs(); ++I)
    if (const clang::Expr *E = Asm->getOutputExpr(I))
      store(value(E), E->getType(), Value::varying(Scope::Thread, Why), E);
  for (unsigned I = 0; I < Asm->getNumClobbers(); ++I)
    if (Asm->getClobber(I) == "memory") {
      Access Store{nullptr, nullptr, S->getBeginLoc(), nullptr, false};
      Now.GridStores.insert(Store);
      Now.GlobalStoresOfBlock.insert(Store);
      Now.SharedStores.insert(Store);
    }
}

} // namespace gmpi::translate
