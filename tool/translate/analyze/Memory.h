// Local memory, field by field and element by element, and what the kernel did to shared and global
// memory since the last point at which its threads met.
//
// Invariant: a cell for a part of an object says more than the cell of the whole; a part without a
// cell is as its nearest enclosing cell says. Cells have exact places only: a store to `a[i]` goes
// to the cell of `a` and to every element's.
#pragma once

#include "Lattice.h"
#include <functional>
#include <set>

namespace gmpi::translate {

class LocalMemory {
public:
  /// What the place holds, joined over all of its parts.
  Value read(const Place &P) const;
  /// Replaces what an exact place holds.
  void write(const Place &P, const Value &V);
  /// The place may hold V now, or what it held before.
  void writeMaybe(const Place &P, const Value &V);
  /// All parts of an aggregate. Both places exact.
  void copy(const Place &To, const LocalMemory &From, const Place &Source);
  /// Lowers what the place holds.
  void lower(const Place &P, Scope To, const Cause *Why);

  /// Takes in what holds on another path to the same point. True if anything changed.
  bool joinWith(const LocalMemory &Other);

  /// Every object reached from these values through pointers.
  std::set<Object> reachableFrom(llvm::ArrayRef<Value> Values) const;
  /// The parts of Source beside those that To has: a base class beside the members.
  void overlay(const Place &To, const Place &Source);
  /// Variables that hold the same in all threads of the grid, as numbers or addresses of memory that
  /// all threads share: not addresses of what each thread or block has of its own.
  std::set<const clang::ValueDecl *> uniformVariables() const;
  LocalMemory restrictedTo(const std::set<Object> &Objects) const;
  void eraseObjects(const std::set<Object> &Objects);
  void insertObjects(const LocalMemory &Other, const std::set<Object> &Objects);
  bool sameAs(const LocalMemory &Other, bool WithCauses = false) const;

private:
  using Cells = std::map<Place, Value>;
  using Range = std::pair<Cells::const_iterator, Cells::const_iterator>;

  Range cellsOf(Object Root) const;
  /// The value that holds for an exact place as a whole; undefined if nothing does.
  Value enclosing(const Place &P) const;
  void forParts(const Place &P, llvm::function_ref<void(Value &)> Visit);

  Cells Known;
};

/// One store to, or load from, memory that threads share.
struct Access {
  const clang::ValueDecl *Root = nullptr; ///< null: unknown
  const clang::Type *Type = nullptr;      ///< canonical, unqualified; null: any
  clang::SourceLocation Loc;
  const clang::Expr *Load = nullptr; ///< for loads
  bool Atomic = false;

  auto key() const { return std::tie(Loc, Root, Type, Load, Atomic); }
  bool operator<(const Access &Other) const { return key() < Other.key(); }
  bool operator==(const Access &Other) const { return key() == Other.key(); }

  /// Whether a store here may change what a load reads: the same root or an unknown one, and types
  /// that may alias. Two kernel parameters count as two roots: where they alias, plain stores and
  /// loads with no meeting point between are a data race.
  bool mayChange(const Access &Load) const;
};

/// Nobody writes to the variable or, of a parameter, through it or to what it leads to, while the
/// kernel runs.
bool isReadOnly(const clang::ValueDecl *Root);

/// What holds at one point of one function, on the paths that lead there.
struct State {
  bool Reached = false;
  LocalMemory Memory;
  // Since the last point where the whole grid met, and since the last where the block met.
  std::set<Access> GridStores, GridLoads;
  std::set<Access> GlobalStoresOfBlock;
  std::set<Access> SharedStores, SharedLoads;

  void gridMeets();
  void blockMeets();
  bool joinWith(const State &Other);
  /// Only what was done to shared and global memory.
  bool joinAccesses(const State &Other);
  bool sameAs(const State &Other, bool WithCauses = false) const;
};

} // namespace gmpi::translate
