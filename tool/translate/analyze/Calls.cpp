// Calls: functions known by name, functions whose bodies are interpreted in the caller's context,
// and functions of which nothing is known.
#include "Interpreter.h"

namespace gmpi::translate {

using clang::Expr;
using clang::FunctionDecl;

namespace {

bool isObject(clang::QualType Type) { return Type->isRecordType() || Type->isArrayType(); }

llvm::SmallVector<const Expr *, 8> argumentsOf(const clang::CallExpr *E) {
  return {E->arg_begin(), E->arg_end()};
}

std::string quoted(const clang::NamedDecl *Declaration) {
  return "`" + Declaration->getNameAsString() + "`";
}

bool isCopyOrMove(const FunctionDecl *Function) {
  if (const auto *Constructor = llvm::dyn_cast<clang::CXXConstructorDecl>(Function))
    return Constructor->isCopyOrMoveConstructor();
  const auto *Method = llvm::dyn_cast<clang::CXXMethodDecl>(Function);
  return Method && (Method->isCopyAssignmentOperator() || Method->isMoveAssignmentOperator());
}

} // namespace

Value Interpreter::call(const clang::CallExpr *E) {
  const FunctionDecl *Function = E->getDirectCallee();
  if (!Function)
    return indirectCall(E);
  if (const MpiFunction *Mpi = mpiFunctionOf(Function))
    return mpiCall(E, *Mpi);

  llvm::SmallVector<const Expr *, 8> Arguments = argumentsOf(E);
  const Expr *Object = nullptr;
  const auto *Method = llvm::dyn_cast<clang::CXXMethodDecl>(Function);
  if (const auto *Member = llvm::dyn_cast<clang::CXXMemberCallExpr>(E))
    Object = Member->getImplicitObjectArgument();
  else if (Method && Method->isImplicitObjectMemberFunction() && !Arguments.empty()) {
    Object = Arguments.front();
    Arguments.erase(Arguments.begin());
  } else if (Method && llvm::isa<clang::CXXOperatorCallExpr>(E) && Method->isStatic()) {
    Arguments.erase(Arguments.begin());
  }

  KnownFunction Known = classify(E);
  if (Known.What == Effect::GridMeets || Known.What == Effect::Unknown)
    noteUniform(E);
  if (Known.What != Effect::Unknown)
    return knownCall(E, Known);

  if (Object && Method && isCopyOrMove(Method) && Method->isTrivial()) {
    Value To = value(Object);
    copyObject(To, value(Arguments[0]), Shared.Ast.getCanonicalTagType(Method->getParent()), E);
    return To;
  }
  if (Object && llvm::isa<clang::CXXConversionDecl>(Function))
    if (const auto *Name = llvm::dyn_cast<clang::DeclRefExpr>(Object->IgnoreParenImpCasts()))
      if (auto Variable = builtinVariable(Name->getDecl()))
        return builtinObject(*Variable, E);
  if (isVirtualCall(E)) {
    if (const FunctionDecl *Target = Shared.Reach.indirectTarget(E))
      refuse(E, E->getExprLoc(), "scope_virtual_call", {quoted(Function)}, Target);
    llvm::SmallVector<const Expr *, 8> All = Arguments;
    if (Object)
      All.push_back(Object);
    return unknownCall(E, All, quoted(Function));
  }
  Value This = Object ? value(Object) : Value();
  if (std::shared_ptr<const Run> Callee = enter(Function, Arguments, This, E, E->getExprLoc()))
    return resultOf(Function, *Callee, E);
  llvm::SmallVector<const Expr *, 8> All = Arguments;
  if (Object)
    All.push_back(Object);
  return unknownCall(E, All, quoted(Function));
}

void Interpreter::noteUniform(const clang::CallExpr *E) {
  if (!Shared.Reach.maySynchronise(E))
    return;
  std::set<const clang::ValueDecl *> Uniform = Now.Memory.uniformVariables();
  std::erase_if(Uniform, [&](const clang::ValueDecl *V) { return Shared.escaped(Object(V)); });
  Result->Uniform[E] = std::move(Uniform);
}

/// Interprets the callee here; null if it has no body, or is refused.
std::shared_ptr<const Run> Interpreter::enter(const FunctionDecl *Function,
                                              llvm::ArrayRef<const Expr *> Arguments, Value This,
                                              const void *By, clang::SourceLocation Loc) {
  const FunctionDecl *Definition = definitionOf(Function);
  if (!Definition || Definition->isDependentContext())
    return nullptr;
  if (Shared.isRunning(Definition)) {
    if (Shared.Reach.reachesMpi(Definition))
      refuse(By, Loc, "scope_recursion", {quoted(Definition)}, Definition);
    return nullptr;
  }

  Context Call;
  Call.Function = Definition;
  Call.At = Controls[CurrentBlock];
  Call.This = This;
  std::vector<Value> Given{This};
  unsigned Count = std::min<unsigned>(Definition->getNumParams(), Arguments.size());
  for (unsigned I = 0; I < Count; ++I)
    Given.push_back(value(Arguments[I]));
  for (unsigned I = Count; I < Arguments.size(); ++I)
    escape(value(Arguments[I]), Arguments[I]->getExprLoc(), quoted(Definition));

  // The callee gets what it can reach; the rest of the caller's memory stays as it is.
  std::set<Object> Reachable = Now.Memory.reachableFrom(Given);
  Call.Entry = Now;
  Call.Entry.Memory = Now.Memory.restrictedTo(Reachable);
  for (unsigned I = 0; I < Count; ++I) {
    const clang::ParmVarDecl *Parameter = Definition->getParamDecl(I);
    Place Own;
    Own.Root = static_cast<const clang::ValueDecl *>(Parameter);
    const Value &V = Given[I + 1];
    bool Plain = V.Targets.size() == 1 && V.Targets[0].Memory == Place::Kind::Local &&
                 V.Targets[0].isExact();
    if (!isObject(Parameter->getType())) {
      Call.Entry.Memory.write(Own, V);
    } else if (Plain) {
      Call.Entry.Memory.copy(Own, Now.Memory, V.Targets[0]);
      if (V.Level != Scope::Grid)
        Call.Entry.Memory.lower(Own, V.Level, V.Why);
    } else {
      Call.Entry.Memory.write(Own, load(V, Parameter->getType(), Arguments[I]));
    }
  }

  std::shared_ptr<const Run> Callee = Shared.run(Call);
  if (!Callee) {
    if (Shared.Reach.reachesMpi(Definition))
      refuse(By, Loc, "scope_too_deep", {quoted(Definition)}, Definition);
    return nullptr;
  }
  Result->Callees[By] = {Callee, Loc};
  if (!Callee->Exit.Reached)
    return Callee; // It never comes back: what follows is reached by nobody it was called for.
  LocalMemory Mine = std::move(Now.Memory);
  Now = Callee->Exit;
  Now.Memory = std::move(Mine);
  Now.Memory.eraseObjects(Reachable);
  Now.Memory.insertObjects(Callee->Exit.Memory, Reachable);
  for (const Place &Stored : Callee->Stored)
    if (Reachable.count(Stored.Root))
      log(Stored);
  return Callee;
}

Value Interpreter::resultOf(const FunctionDecl *Function, const Run &Callee, const Expr *E) {
  if (Function->getReturnType()->isVoidType() || !Callee.Exit.Reached)
    return Value();
  Place Returned;
  Returned.Root = static_cast<const clang::ValueDecl *>(Callee.Function);
  if (!isObject(Function->getReturnType())) {
    Value V = Callee.Exit.Memory.read(Returned);
    V.Undefined = false;
    return V;
  }
  Value Own = temporary(E);
  Now.Memory.copy(Own.Targets[0], Callee.Exit.Memory, Returned);
  return Own;
}

Value Interpreter::knownCall(const clang::CallExpr *E, const KnownFunction &Known) {
  auto Argument = [&](unsigned I) { return value(E->getArg(I)); };
  auto Pointee = [&](unsigned I) { return E->getArg(I)->getType()->getPointeeType(); };
  auto InObject = [&](Value V) {
    if (!isObject(E->getType()))
      return V;
    Value Own = temporary(E);
    Now.Memory.write(Own.Targets[0], V);
    return Own;
  };
  std::string Name = E->getDirectCallee()->getNameAsString();
  switch (Known.What) {
  case Effect::Unknown:
  case Effect::Nothing:
    return Value();
  case Effect::Computes: {
    Value Joined;
    for (const Expr *Sub : E->arguments())
      Joined.lower(value(Sub));
    // __builtin_expect's value is its first argument's.
    if (E->getNumArgs() && Name == "__builtin_expect") {
      Joined.Shape.Selects = Argument(0).Shape.Selects;
      Joined.Shape.Zero = Argument(0).Shape.Zero;
    }
    return Joined;
  }
  case Effect::Varies:
    return InObject(seed(E, Scope::Thread));
  case Effect::VariesByBlock:
    return InObject(seed(E, Scope::Block));
  case Effect::Uniform:
    return InObject(Value());
  case Effect::Rank: {
    Value Rank = seed(E, Known.RankParts & AllThread ? Scope::Thread : Scope::Block);
    Rank.Shape.Parts = Known.RankParts;
    Rank.Shape.Injective = true;
    return Rank;
  }
  case Effect::BlockMeets:
    Now.blockMeets();
    return E->getType()->isVoidType() ? Value() : seed(E, Scope::Block);
  case Effect::GridMeets:
    Now.gridMeets();
    return Value();
  case Effect::Atomic: {
    Value Result = Value::varying(
        Scope::Thread,
        Shared.Why.get({E->getBeginLoc(), "the result of `" + Name + "`", "", true}));
    const Expr *At = E->getNumArgs() ? E->getArg(0) : nullptr;
    if (const auto *Member = llvm::dyn_cast<clang::CXXMemberCallExpr>(E))
      At = Member->getImplicitObjectArgument();
    clang::QualType Type;
    if (At && At->getType()->isPointerType())
      Type = At->getType()->getPointeeType();
    if (At)
      store(value(At), Type, Result, E, true, true);
    return InObject(Result);
  }
  case Effect::Loads:
    return InObject(load(Argument(0), Pointee(0), E));
  case Effect::LoadsAfresh:
    return InObject(unknown(E, "`" + Shared.text(E) + "`",
                            "which may be another for each thread that loads it"));
  case Effect::Stores:
    store(Argument(0), Pointee(0),
          isObject(Pointee(0)) ? contents(Argument(1), false, E) : Argument(1), E);
    return Value();
  case Effect::CopiesMemory: {
    Value Held = contents(Argument(1), false, E->getArg(1));
    Held.lower(Argument(2));
    // What lies in global or shared memory is as uniform as a load from there.
    Value From = Argument(1);
    llvm::erase_if(From.Targets, [](const Place &P) { return P.Memory == Place::Kind::Local; });
    if (!From.Targets.empty() || Argument(1).Targets.empty())
      Held.lower(load(From, Shared.Ast.CharTy, E->getArg(1)));
    store(Argument(0), {}, Held, E, false, true);
    return Argument(0);
  }
  case Effect::SetsMemory: {
    Value Set = Argument(1);
    Set.lower(Argument(2));
    store(Argument(0), {}, Set, E, false, true);
    return Argument(0);
  }
  }
  return Value();
}

/// What it is given may be changed by it, in any way; it may store anywhere.
Value Interpreter::unknownCall(const Expr *E, llvm::ArrayRef<const Expr *> Arguments,
                               std::string Name) {
  bool TakesPointers = false;
  for (const Expr *Argument : Arguments) {
    Value V = value(Argument);
    TakesPointers |= !V.Targets.empty() || !Argument->getType()->isArithmeticType();
    if (isObject(Argument->getType()) && !Argument->isGLValue())
      V = contents(V, false, Argument);
    escape(V, Argument->getExprLoc(), Name);
  }
  const auto *Call = llvm::dyn_cast<clang::CallExpr>(E);
  bool IsBuiltin = Call && Call->getDirectCallee() && Call->getDirectCallee()->getBuiltinID();
  if (!IsBuiltin || TakesPointers) {
    Access Store{nullptr, nullptr, E->getExprLoc(), nullptr, false};
    Now.GridStores.insert(Store);
    Now.GlobalStoresOfBlock.insert(Store);
    Now.SharedStores.insert(Store);
  }
  if (E->getType()->isVoidType())
    return Value();
  Value V = unknown(E, "the result of " + Name, "whose body is not seen here");
  V.addTargets(anywhere());
  if (!isObject(E->getType()) || E->isGLValue())
    return V;
  Value Own = temporary(E);
  Now.Memory.write(Own.Targets[0], V);
  return Own;
}

Value Interpreter::indirectCall(const clang::CallExpr *E) {
  const Expr *Callee = E->getCallee()->IgnoreParenImpCasts();
  if (llvm::isa<clang::CXXPseudoDestructorExpr>(Callee))
    return Value();
  // In a template's pattern the callee is a name: only an MPI function is known by it.
  if (const auto *Name = llvm::dyn_cast<clang::UnresolvedLookupExpr>(Callee))
    if (Name->getName().isIdentifier())
      if (const MpiFunction *Mpi =
              findMpiFunction(Name->getName().getAsIdentifierInfo()->getName()))
        return mpiCall(E, *Mpi);
  value(E->getCallee());
  if (!E->isTypeDependent() && !Callee->isTypeDependent())
    if (const FunctionDecl *Target = Shared.Reach.indirectTarget(E))
      refuse(E, E->getExprLoc(), "scope_function_pointer", {"`" + Shared.text(Callee) + "`"},
             Target);
  return unknownCall(E, argumentsOf(E), "`" + Shared.text(Callee) + "`");
}

Value Interpreter::construct(const clang::CXXConstructExpr *E) {
  const clang::CXXConstructorDecl *Constructor = E->getConstructor();
  Value Own = temporary(E);
  if (Constructor->isTrivial() && Constructor->isCopyOrMoveConstructor() && E->getNumArgs()) {
    copyObject(Own, value(E->getArg(0)), E->getType(), E);
    return Own;
  }
  Now.Memory.write(Own.Targets[0], E->requiresZeroInitialization() ? Value() : Value::undefined());
  if (Constructor->isTrivial() && !E->getNumArgs())
    return Own;
  if (E->getType()->isArrayType())
    Own.Targets[0].Steps.push_back({nullptr, PathStep::AnyIndex});
  llvm::SmallVector<const Expr *, 8> Arguments(E->arg_begin(), E->arg_end());
  // A group of cooperative groups is made by the toolkit's own functions.
  if (definitionOf(Constructor) && enter(Constructor, Arguments, Own, E, E->getExprLoc())) {
    if (E->getType()->isArrayType())
      Own.Targets[0].Steps.pop_back();
    return Own;
  }
  if (E->getType()->isArrayType())
    Own.Targets[0].Steps.pop_back();
  std::string Name = quoted(Constructor);
  Value Whole = unknownCall(E, Arguments, Name);
  (void)Whole;
  Now.Memory.write(Own.Targets[0],
                   unknown(E, "the result of " + Name, "whose body is not seen here"));
  return Own;
}

void Interpreter::destroy(const clang::VarDecl *Variable,
                          const clang::CXXDestructorDecl *Destructor) {
  if (!Destructor || Destructor->isTrivial() || !definitionOf(Destructor))
    return;
  Place Own;
  Own.Root = static_cast<const clang::ValueDecl *>(Variable);
  if (Variable->getType()->isReferenceType())
    return;
  if (!Shared.isRunning(definitionOf(Destructor)))
    enter(Destructor, {}, Value::pointerTo(Own), Variable, Variable->getLocation());
}

void Interpreter::refuse(const void *By, clang::SourceLocation Loc, std::string Id,
                         std::vector<std::string> Arguments, const FunctionDecl *Note) {
  ScopeError Error;
  Error.Lines.push_back({Loc, std::move(Id), std::move(Arguments)});
  if (Note)
    Error.Lines.push_back({Note->getLocation(), "scope_reaches_mpi", {quoted(Note)}});
  Result->Errors[By] = std::move(Error);
}

} // namespace gmpi::translate
