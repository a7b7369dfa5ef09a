// Loads and stores: local memory by its cells, shared and global memory by where the threads last
// met, and objects whose address has got away.
#include "Interpreter.h"

namespace gmpi::translate {

using clang::Expr;
using clang::QualType;

namespace {

const clang::ValueDecl *rootOf(const Place &P) {
  return llvm::dyn_cast_if_present<const clang::ValueDecl *>(P.Root);
}

const clang::Type *accessType(QualType Type) {
  return Type.isNull() ? nullptr : Type.getCanonicalType().getTypePtr();
}

/// An access of another type than the part's own goes anywhere in the object.
Place seenAs(Place Target, QualType Type) {
  if (Target.Inexact || Type.isNull())
    return Target;
  QualType Own = Target.type();
  auto Plain = [](QualType T) { return T.getCanonicalType().getUnqualifiedType(); };
  if (Own.isNull() || Plain(Own) != Plain(Type)) {
    Target.Inexact = true;
    Target.Steps.clear();
  }
  return Target;
}

} // namespace

bool isReadOnly(const clang::ValueDecl *Root) {
  const auto *Variable = llvm::dyn_cast_if_present<clang::VarDecl>(Root);
  if (!Variable)
    return false;
  if (Variable->hasAttr<clang::CUDAConstantAttr>() || Variable->isConstexpr())
    return true;
  QualType Type = Variable->getType();
  if (!llvm::isa<clang::ParmVarDecl>(Variable))
    return Type.isConstQualified();
  return Type.isRestrictQualified() && Type->isPointerType() &&
         Type->getPointeeType().isConstQualified();
}

Value Interpreter::load(const Value &Address, QualType Type, const Expr *E) {
  Value Result = Value::undefined();
  if (Address.Targets.empty() && !Address.Undefined) {
    Place Anywhere;
    Anywhere.Memory = Place::Kind::Global;
    loadTarget(Result, Anywhere, Address, Type, E);
  }
  for (const Place &Target : Address.Targets)
    loadTarget(Result, Target, Address, Type, E);
  if (Address.Level != Scope::Grid) {
    Result.Undefined = false;
    Result.lower(Address);
  }
  bool OwnVariable = llvm::all_of(Address.Targets, [&](const Place &Target) {
    return Target.Memory == Place::Kind::Local && !Shared.escaped(Target.Root);
  });
  if (E->getType().isVolatileQualified() && !OwnVariable) {
    Result.Undefined = false;
    Result.lower(unknown(E, "`" + Shared.text(E) + "`",
                         "which is volatile: it may be another for each thread that loads it"));
  }
  return Result;
}

void Interpreter::loadTarget(Value &Result, const Place &Target, const Value &Address,
                             QualType Type, const Expr *E) {
  switch (Target.Memory) {
  case Place::Kind::Local: {
    Value Held = Now.Memory.read(seenAs(Target, Type));
    if (const Cause *Why = Shared.escaped(Target.Root)) {
      Held.Undefined = false;
      Held.lower(Scope::Thread, Why);
    }
    Result.joinWith(Held);
    return;
  }
  case Place::Kind::Shared:
    return loadBlockShared(Result, Target, Address, Type, E);
  case Place::Kind::Global:
    return loadGlobal(Result, Target, Address, Type, E);
  case Place::Kind::Function:
    Result.joinWith(Value::pointerTo(Target));
    return;
  }
}

void Interpreter::loadBlockShared(Value &Result, const Place &Target, const Value &Address,
                                  QualType Type, const Expr *E) {
  Value Held;
  Place Anywhere;
  Anywhere.Memory = Place::Kind::Global;
  if (!Type->isArithmeticType())
    Held.addTarget(Anywhere);
  Access Load{rootOf(Target), accessType(Type), E->getBeginLoc(), E, false};
  std::string Text = "`" + Shared.text(E) + "`";
  Held.lower(Scope::Block,
             Shared.Why.get({E->getBeginLoc(), Text, "which is in __shared__ memory", true}));
  if (Address.Level != Scope::Thread) {
    for (const Access &Store : Now.SharedStores)
      if (Store.mayChange(Load)) {
        Held.lower(unknown(E, Text,
                           "which the block stores to at line " +
                               std::to_string(Shared.line(Store.Loc)) +
                               " with no __syncthreads() between"));
        break;
      }
    if (const Cause *Why = Shared.changedLoad(E))
      Held.lower(Scope::Thread, Why);
    Now.SharedLoads.insert(Load);
  }
  Result.joinWith(Held);
}

/// Through an address that is the same for the whole grid (block), what is loaded is the same too,
/// unless a thread may have stored there since the grid (block) last met.
void Interpreter::loadGlobal(Value &Result, const Place &Target, const Value &Address,
                             QualType Type, const Expr *E) {
  Value Held;
  const clang::ValueDecl *Root = rootOf(Target);
  if (!Type->isArithmeticType()) {
    Place Anywhere;
    Anywhere.Memory = Place::Kind::Global;
    Held.addTarget(Anywhere);
  }
  if (!isReadOnly(Root) && Address.Level != Scope::Thread) {
    Access Load{Root, accessType(Type), E->getBeginLoc(), E, false};
    bool OfGrid = Address.Level == Scope::Grid;
    std::string Text = "`" + Shared.text(E) + "`";
    for (const Access &Store : OfGrid ? Now.GridStores : Now.GlobalStoresOfBlock)
      if (Store.mayChange(Load)) {
        std::string How = Store.Atomic ? "which the kernel updates atomically at line "
                                       : "which the kernel writes at line ";
        Held.lower(unknown(E, Text,
                           How + std::to_string(Shared.line(Store.Loc)) + " with no " +
                               (OfGrid ? "grid-wide" : "block-wide") +
                               " point (an MPI call, grid.sync()) between"));
        break;
      }
    if (const Cause *Why = Shared.changedLoad(E))
      Held.lower(Scope::Thread, Why);
    if (OfGrid && Root)
      Now.GridLoads.insert(Load);
  }
  // What an unknown pointer leads to may be a local variable whose address got away.
  if (!Root && Shared.anyEscaped())
    Held.lower(unknown(E, "`" + Shared.text(E) + "`",
                       "which may be a local variable whose address was stored away"));
  Result.joinWith(Held);
}

void Interpreter::store(const Value &Address, QualType Type, Value V, const Expr *E, bool Atomic,
                        bool Maybe) {
  V.lower(Address);
  V.Undefined = false;
  bool Only = Address.Targets.size() == 1 && !Maybe;
  bool GetsAway = false;
  if (Address.Targets.empty() && !Address.Undefined) {
    Place Anywhere;
    Anywhere.Memory = Place::Kind::Global;
    storeShared(Anywhere, Type, E, Atomic);
    GetsAway = true;
  }
  for (const Place &Target : Address.Targets) {
    if (Target.Memory != Place::Kind::Local) {
      storeShared(Target, Type, E, Atomic);
      GetsAway = true;
      continue;
    }
    Place Seen = seenAs(Target, Type);
    log(Seen);
    if (Only && Seen.isExact() && !Type.isNull())
      Now.Memory.write(Seen, V);
    else
      Now.Memory.writeMaybe(Seen, V);
  }
  if (GetsAway)
    escape(V, E->getExprLoc(), "memory");
}

/// Also looks back: what some threads loaded, others may load after this.
void Interpreter::storeShared(const Place &Target, QualType Type, const Expr *E, bool Atomic) {
  bool OfBlock = Target.Memory == Place::Kind::Shared;
  if (Target.Memory == Place::Kind::Function)
    return;
  // Atomic updates of a double are often written with integers.
  Access Store{rootOf(Target), Atomic ? nullptr : accessType(Type), E->getExprLoc(), nullptr,
               Atomic};
  auto LookBack = [&](const std::set<Access> &Loads, const char *Point) {
    for (const Access &Load : Loads) {
      if (!Store.Root || Store.Root != Load.Root || !Store.mayChange(Load))
        continue;
      Shared.changeLoad(
          Load.Load,
          Shared.Why.get(
              {Load.Loc, "`" + Shared.text(Load.Load) + "`",
               std::string("which the kernel ") + (Atomic ? "updates atomically" : "writes") +
                   " at line " + std::to_string(Shared.line(Store.Loc)) +
                   ", perhaps before the other threads have loaded it: no " + Point + " is between",
               false}));
    }
  };
  if (OfBlock) {
    LookBack(Now.SharedLoads, "__syncthreads()");
    Now.SharedStores.insert(Store);
    return;
  }
  LookBack(Now.GridLoads, "grid-wide point (an MPI call, grid.sync())");
  Now.GridStores.insert(Store);
  Now.GlobalStoresOfBlock.insert(Store);
  if (!Store.Root)
    Now.SharedStores.insert(Store);
}

/// An object takes the value of another, field by field where both are known.
void Interpreter::copyObject(const Value &To, const Value &From, QualType Type, const Expr *E) {
  bool Plain = To.Targets.size() == 1 && From.Targets.size() == 1;
  if (Plain) {
    Place Into = seenAs(To.Targets[0], Type), Source = seenAs(From.Targets[0], Type);
    Plain = Into.Memory == Place::Kind::Local && Source.Memory == Place::Kind::Local &&
            Into.isExact() && Source.isExact() && !Shared.escaped(Source.Root) &&
            To.Level == Scope::Grid;
    if (Plain) {
      log(Into);
      if (Into == Source)
        return;
      LocalMemory Before = Now.Memory;
      Now.Memory.copy(Into, Before, Source);
      if (From.Level != Scope::Grid)
        Now.Memory.lower(Into, From.Level, From.Why);
      return;
    }
  }
  store(To, Type, load(From, Type, E), E);
}

/// What may be done with the objects that a value points to is not known from here on.
void Interpreter::escape(const Value &V, clang::SourceLocation Loc, const std::string &To) {
  for (const Place &Target : V.Targets)
    if (Target.Memory == Place::Kind::Shared && To == "memory")
      Shared.escape(Target.Root, nullptr);
  for (Object Root : Now.Memory.reachableFrom({V})) {
    Place P;
    P.Root = Root;
    std::string Name = P.spelled().empty() ? "an object" : P.spelled();
    Shared.escape(Root, Shared.Why.get({Loc, Name, "whose address is given to " + To, false}));
  }
}

/// What a message in memory holds: of local memory its contents, of other memory what follows from
/// its address. OneOnly: the element or member pointed to, else the whole array (object) it is in.
Value Interpreter::contents(const Value &Pointer, bool OneOnly, const Expr *E) {
  Value Held;
  Held.lower(Pointer);
  for (Place Target : Pointer.Targets) {
    if (Target.Memory == Place::Kind::Global && Target.Root.isNull() && Shared.anyEscaped())
      Held.lower(unknown(E, "`" + Shared.text(E) + "`",
                         "which may be a local variable whose address was stored away"));
    if (Target.Memory != Place::Kind::Local)
      continue;
    if (!OneOnly) {
      // An element stands for its array, a member for its object: the message may go on behind it.
      while (!Target.Steps.empty() && Target.Steps.back().Field &&
             (Target.type().isNull() || !Target.type()->isArrayType()))
        Target.Steps.pop_back();
      while (!Target.Steps.empty() && !Target.Steps.back().Field)
        Target.Steps.pop_back();
    }
    Value Part = Now.Memory.read(Target);
    if (const Cause *Why = Shared.escaped(Target.Root)) {
      Part.Undefined = false;
      Part.lower(Scope::Thread, Why);
    }
    Held.lower(Part);
    Held.addTargets(Part);
  }
  return Held;
}

} // namespace gmpi::translate
