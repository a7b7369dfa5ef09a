#include "Memory.h"
#include "clang/AST/Type.h"

namespace gmpi::translate {

namespace {

bool sameStep(const PathStep &A, const PathStep &B) {
  return A.Field == B.Field &&
         (A.Index == B.Index || A.Index == PathStep::AnyIndex || B.Index == PathStep::AnyIndex);
}

/// Whether two parts of one object may overlap: one's path leads through the other.
bool overlap(const Path &A, const Path &B) {
  for (size_t I = 0; I < A.size() && I < B.size(); ++I)
    if (!sameStep(A[I], B[I]))
      return false;
  return true;
}

/// Up to the first step that is not known.
Place exactPrefix(const Place &P) {
  Place Prefix = P;
  Prefix.Inexact = false;
  if (P.Inexact)
    Prefix.Steps.clear();
  for (size_t I = 0; I < Prefix.Steps.size(); ++I)
    if (!Prefix.Steps[I].Field && Prefix.Steps[I].Index == PathStep::AnyIndex)
      Prefix.Steps.truncate(I);
  return Prefix;
}

bool isPrefix(const Path &Short, const Path &Long) {
  return Short.size() <= Long.size() && std::equal(Short.begin(), Short.end(), Long.begin());
}

} // namespace

LocalMemory::Range LocalMemory::cellsOf(Object Root) const {
  Place First;
  First.Root = Root;
  auto Begin = Known.lower_bound(First), End = Begin;
  while (End != Known.end() && End->first.Root == Root)
    ++End;
  return {Begin, End};
}

Value LocalMemory::enclosing(const Place &P) const {
  Value Nearest = Value::undefined();
  size_t Depth = 0;
  auto [Begin, End] = cellsOf(P.Root);
  for (auto Cell = Begin; Cell != End; ++Cell)
    if (isPrefix(Cell->first.Steps, P.Steps) && Cell->first.Steps.size() >= Depth) {
      Nearest = Cell->second;
      Depth = Cell->first.Steps.size();
    }
  return Nearest;
}

Value LocalMemory::read(const Place &P) const {
  Place Prefix = exactPrefix(P);
  Value Result = enclosing(Prefix);
  auto [Begin, End] = cellsOf(P.Root);
  for (auto Cell = Begin; Cell != End; ++Cell)
    if (Cell->first.Steps.size() > Prefix.Steps.size() &&
        isPrefix(Prefix.Steps, Cell->first.Steps) &&
        (P.Inexact || overlap(Cell->first.Steps, P.Steps)))
      Result.joinWith(Cell->second);
  return Result;
}

void LocalMemory::write(const Place &P, const Value &V) {
  auto [Begin, End] = cellsOf(P.Root);
  for (auto Cell = Begin; Cell != End;)
    Cell = isPrefix(P.Steps, Cell->first.Steps) ? Known.erase(Cell) : std::next(Cell);
  Known[P] = V;
}

void LocalMemory::forParts(const Place &P, llvm::function_ref<void(Value &)> Visit) {
  auto [Begin, End] = cellsOf(P.Root);
  for (auto Cell = Begin; Cell != End; ++Cell)
    if (P.Inexact || overlap(Cell->first.Steps, P.Steps))
      Visit(Known[Cell->first]);
}

void LocalMemory::writeMaybe(const Place &P, const Value &V) {
  Place Prefix = exactPrefix(P);
  Value Whole = enclosing(Prefix);
  Whole.joinWith(V);
  auto [Begin, End] = cellsOf(P.Root);
  for (auto Cell = Begin; Cell != End; ++Cell)
    if (Cell->first.Steps.size() > Prefix.Steps.size() &&
        (P.Inexact || overlap(Cell->first.Steps, P.Steps)))
      Known[Cell->first].joinWith(V);
  Known[Prefix] = Whole;
}

void LocalMemory::copy(const Place &To, const LocalMemory &From, const Place &Source) {
  std::vector<std::pair<Path, Value>> Parts;
  Value Whole = From.enclosing(Source);
  auto [Begin, End] = From.cellsOf(Source.Root);
  for (auto Cell = Begin; Cell != End; ++Cell)
    if (Cell->first.Steps.size() > Source.Steps.size() && isPrefix(Source.Steps, Cell->first.Steps))
      Parts.push_back(
          {Path(Cell->first.Steps.begin() + Source.Steps.size(), Cell->first.Steps.end()),
           Cell->second});
  write(To, Whole);
  for (auto &[Steps, V] : Parts) {
    Place Part = To;
    Part.Steps.append(Steps.begin(), Steps.end());
    Known[Part] = V;
  }
}

void LocalMemory::overlay(const Place &To, const Place &Source) {
  LocalMemory Before = *this;
  Value Whole = Before.enclosing(Source);
  if (!Whole.Undefined)
    writeMaybe(To, Whole);
  auto [Begin, End] = Before.cellsOf(Source.Root);
  for (auto Cell = Begin; Cell != End; ++Cell)
    if (Cell->first.Steps.size() > Source.Steps.size() &&
        isPrefix(Source.Steps, Cell->first.Steps)) {
      Place Part = To;
      Part.Steps.append(Cell->first.Steps.begin() + Source.Steps.size(), Cell->first.Steps.end());
      Known[Part] = Cell->second;
    }
}

void LocalMemory::lower(const Place &P, Scope To, const Cause *Why) {
  Place Prefix = exactPrefix(P);
  // A part that has no cell of its own must not lower the whole object for good.
  Value Whole = enclosing(Prefix);
  if (!Whole.Undefined && !Known.count(Prefix))
    Known[Prefix] = Whole;
  auto [Begin, End] = cellsOf(P.Root);
  for (auto Cell = Begin; Cell != End; ++Cell)
    if (isPrefix(Prefix.Steps, Cell->first.Steps) &&
        (P.Inexact || overlap(Cell->first.Steps, P.Steps)) && !Cell->second.Undefined)
      Known[Cell->first].lower(To, Why);
}

bool LocalMemory::joinWith(const LocalMemory &Other) {
  bool Changed = false;
  LocalMemory Before = *this;
  auto Merge = [&](const Place &P) {
    Value Joined = Before.enclosing(P);
    Joined.joinWith(Other.enclosing(P));
    auto [Cell, New] = Known.try_emplace(P, Joined);
    if (!New && !Cell->second.sameAs(Joined)) {
      Cell->second = Joined;
      New = true;
    }
    Changed |= New;
  };
  for (const auto &Cell : Before.Known)
    Merge(Cell.first);
  for (const auto &Cell : Other.Known)
    Merge(Cell.first);
  return Changed;
}

std::set<Object> LocalMemory::reachableFrom(llvm::ArrayRef<Value> Values) const {
  std::set<Object> Found;
  std::vector<Object> Open;
  auto Add = [&](const Value &V) {
    for (const Place &Target : V.Targets)
      if (Target.Memory == Place::Kind::Local && Found.insert(Target.Root).second)
        Open.push_back(Target.Root);
  };
  for (const Value &V : Values)
    Add(V);
  while (!Open.empty()) {
    Object Root = Open.back();
    Open.pop_back();
    auto [Begin, End] = cellsOf(Root);
    for (auto Cell = Begin; Cell != End; ++Cell)
      Add(Cell->second);
  }
  return Found;
}

std::set<const clang::ValueDecl *> LocalMemory::uniformVariables() const {
  std::set<const clang::ValueDecl *> Uniform, Others;
  for (const auto &[P, V] : Known) {
    const auto *Variable = llvm::dyn_cast_if_present<const clang::ValueDecl *>(P.Root);
    if (!Variable || P.Memory != Place::Kind::Local)
      continue;
    bool OwnAddress = llvm::any_of(V.Targets, [](const Place &Target) {
      return Target.Memory == Place::Kind::Local || Target.Memory == Place::Kind::Shared;
    });
    (V.Level == Scope::Grid && !OwnAddress ? Uniform : Others).insert(Variable);
  }
  for (const clang::ValueDecl *Variable : Others)
    Uniform.erase(Variable);
  return Uniform;
}

LocalMemory LocalMemory::restrictedTo(const std::set<Object> &Objects) const {
  LocalMemory Part;
  Part.insertObjects(*this, Objects);
  return Part;
}

void LocalMemory::eraseObjects(const std::set<Object> &Objects) {
  std::erase_if(Known, [&](const auto &Cell) { return Objects.count(Cell.first.Root); });
}

void LocalMemory::insertObjects(const LocalMemory &Other, const std::set<Object> &Objects) {
  for (const auto &[P, V] : Other.Known)
    if (Objects.count(P.Root))
      Known[P] = V;
}

bool LocalMemory::sameAs(const LocalMemory &Other, bool WithCauses) const {
  return Known.size() == Other.Known.size() &&
         std::equal(Known.begin(), Known.end(), Other.Known.begin(),
                    [&](const auto &A, const auto &B) {
                      return A.first == B.first && A.second.sameAs(B.second, WithCauses);
                    });
}

bool Access::mayChange(const Access &Load) const {
  if (Root && Load.Root && Root != Load.Root)
    return false;
  if (!Type || !Load.Type || Type == Load.Type)
    return true;
  // Through one pointer, casts to other types are more likely than two objects (not so through the
  // members of one structure).
  if (Root && Root == Load.Root && !Root->getType()->isRecordType())
    return true;
  // Characters and what is not a plain scalar may be anything; else the language's aliasing rules.
  auto MayBeAny = [](const clang::Type *T) {
    return T->isAnyCharacterType() || !(T->isArithmeticType() || T->isPointerType());
  };
  if (MayBeAny(Type) || MayBeAny(Load.Type) || Type->isEnumeralType() ||
      Load.Type->isEnumeralType())
    return true;
  if (Type->isPointerType() && Load.Type->isPointerType())
    return true;
  // Signed and unsigned versions of one type alias.
  if (Type->isIntegerType() && Load.Type->isIntegerType()) {
    auto Rank = [](const clang::Type *T) {
      switch (llvm::cast<clang::BuiltinType>(T)->getKind()) {
      case clang::BuiltinType::Short:
      case clang::BuiltinType::UShort:
        return 2;
      case clang::BuiltinType::Int:
      case clang::BuiltinType::UInt:
        return 3;
      case clang::BuiltinType::Long:
      case clang::BuiltinType::ULong:
        return 4;
      case clang::BuiltinType::LongLong:
      case clang::BuiltinType::ULongLong:
        return 5;
      default:
        return 1;
      }
    };
    if (!llvm::isa<clang::BuiltinType>(Type) || !llvm::isa<clang::BuiltinType>(Load.Type))
      return true;
    return Rank(Type) == Rank(Load.Type);
  }
  return false;
}

void State::gridMeets() {
  GridStores.clear();
  GridLoads.clear();
  blockMeets();
}

void State::blockMeets() {
  GlobalStoresOfBlock.clear();
  SharedStores.clear();
  SharedLoads.clear();
}

bool State::joinWith(const State &Other) {
  if (!Other.Reached)
    return false;
  if (!Reached) {
    *this = Other;
    return true;
  }
  bool Changed = Memory.joinWith(Other.Memory);
  return joinAccesses(Other) || Changed;
}

bool State::joinAccesses(const State &Other) {
  bool Changed = false;
  auto Merge = [&](std::set<Access> &Into, const std::set<Access> &From) {
    size_t Before = Into.size();
    Into.insert(From.begin(), From.end());
    Changed |= Into.size() != Before;
  };
  Merge(GridStores, Other.GridStores);
  Merge(GridLoads, Other.GridLoads);
  Merge(GlobalStoresOfBlock, Other.GlobalStoresOfBlock);
  Merge(SharedStores, Other.SharedStores);
  Merge(SharedLoads, Other.SharedLoads);
  return Changed;
}

bool State::sameAs(const State &Other, bool WithCauses) const {
  return Reached == Other.Reached && GridStores == Other.GridStores &&
         GridLoads == Other.GridLoads && GlobalStoresOfBlock == Other.GlobalStoresOfBlock &&
         SharedStores == Other.SharedStores && SharedLoads == Other.SharedLoads &&
         Memory.sameAs(Other.Memory, WithCauses);
}

} // namespace gmpi::translate
