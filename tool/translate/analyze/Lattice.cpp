#include "Lattice.h"
#include "llvm/ADT/STLExtras.h"

namespace gmpi::translate {

llvm::StringRef spelling(Scope S) {
  switch (S) {
  case Scope::Grid:
    return "grid";
  case Scope::Block:
    return "block";
  case Scope::Thread:
    return "thread";
  }
  return "thread";
}

const Cause *Causes::get(Cause New) {
  // A chain through a loop would grow with every pass; a message needs three links at most.
  unsigned Links = 0;
  for (const Cause *C = New.Because; C; C = C->Because)
    if (++Links > 3 || (C->Because && C->Loc == New.Loc && C->What == New.What))
      return New.Because;
  auto &Slot = Known[{New.Loc, New.What, New.Detail, New.Proven, New.Because}];
  if (!Slot)
    Slot = std::make_unique<Cause>(std::move(New));
  return Slot.get();
}

bool Place::isExact() const {
  return !Inexact && llvm::none_of(Steps, [](const PathStep &Step) {
    return !Step.Field && Step.Index == PathStep::AnyIndex;
  });
}

clang::QualType Place::type() const {
  if (Inexact || Root.isNull())
    return {};
  clang::QualType Type;
  if (const auto *Function = llvm::dyn_cast_if_present<clang::FunctionDecl>(
          llvm::dyn_cast<const clang::ValueDecl *>(Root)))
    Type = Function->getReturnType();
  else if (const auto *Decl = llvm::dyn_cast<const clang::ValueDecl *>(Root))
    Type = Decl->getType();
  else
    Type = llvm::cast<const clang::Expr *>(Root)->getType();
  for (const PathStep &Step : Steps) {
    if (Step.Field)
      Type = Step.Field->getType();
    else if (const auto *Array = Type->getAsArrayTypeUnsafe())
      Type = Array->getElementType();
    else
      return {};
  }
  return Type;
}

std::string Place::spelled() const {
  const auto *Decl = llvm::dyn_cast_if_present<const clang::ValueDecl *>(Root);
  if (!Decl || llvm::isa<clang::FunctionDecl>(Decl) || !Decl->getIdentifier())
    return "";
  std::string Text = Decl->getNameAsString();
  for (const PathStep &Step : Steps) {
    if (Step.Field)
      Text += "." + Step.Field->getNameAsString();
    else if (Step.Index != PathStep::AnyIndex)
      Text += "[" + std::to_string(Step.Index) + "]";
  }
  return "`" + Text + "`";
}

bool Place::operator==(const Place &Other) const {
  return Memory == Other.Memory && Root == Other.Root && Inexact == Other.Inexact &&
         Steps == Other.Steps;
}

bool Place::operator<(const Place &Other) const {
  if (Memory != Other.Memory)
    return Memory < Other.Memory;
  if (Root != Other.Root) {
    // In source order, so that messages do not depend on where objects are allocated.
    const auto *A = llvm::dyn_cast_if_present<const clang::ValueDecl *>(Root);
    const auto *B = llvm::dyn_cast_if_present<const clang::ValueDecl *>(Other.Root);
    if (!A != !B)
      return !B;
    if (A && B && A->getLocation() != B->getLocation())
      return A->getLocation() < B->getLocation();
    return std::less<const void *>()(Root.getOpaqueValue(), Other.Root.getOpaqueValue());
  }
  if (Inexact != Other.Inexact)
    return Inexact < Other.Inexact;
  return std::lexicographical_compare(Steps.begin(), Steps.end(), Other.Steps.begin(),
                                      Other.Steps.end());
}

Value Value::undefined() {
  Value V;
  V.Undefined = true;
  return V;
}

Value Value::varying(Scope Level, const Cause *Why) {
  Value V;
  V.Level = Level;
  V.Why = Why;
  return V;
}

Value Value::pointerTo(Place Target) {
  Value V;
  V.Targets.push_back(std::move(Target));
  return V;
}

void lowerLevel(Scope &Level, const Cause *&Why, Scope To, const Cause *Because) {
  if (To > Level) {
    Level = To;
    Why = Because;
  } else if (To == Level && Why && Because && !Why->Proven && Because->Proven) {
    Why = Because;
  }
}

void Value::lower(Scope To, const Cause *Because) {
  if (To > Level)
    Shape = {};
  lowerLevel(Level, Why, To, Because);
}

void Value::addTarget(const Place &Target) {
  auto At = llvm::lower_bound(Targets, Target);
  if (At == Targets.end() || !(*At == Target))
    Targets.insert(At, Target);
}

void Value::addTargets(const Value &Other) {
  for (const Place &Target : Other.Targets)
    addTarget(Target);
}

void Value::joinWith(const Value &Other) {
  if (Other.Undefined)
    return;
  if (Undefined) {
    *this = Other;
    return;
  }
  bool SameShape = Shape == Other.Shape;
  lower(Other);
  if (!SameShape)
    Shape = {};
  addTargets(Other);
}

bool Value::sameAs(const Value &Other, bool WithCauses) const {
  bool SameWhy =
      WithCauses ? Why == Other.Why : !Why || !Other.Why || Why->Proven == Other.Why->Proven;
  return Level == Other.Level && Undefined == Other.Undefined && Shape == Other.Shape &&
         Targets == Other.Targets && SameWhy;
}

} // namespace gmpi::translate
