// The uniformity lattice over values: how far a value is the same (grid > block > thread), why not
// further, what it may point to, and whether it is a recognised thread index.
//
// Invariant: joining only goes down the lattice (a larger Scope, more targets, no shape), so the
// fixpoints over it end. Causes are for messages and never decide anything, but for `Proven`.
#pragma once

#include "ScopeAnalysis.h"
#include "clang/AST/Expr.h"
#include "llvm/ADT/PointerUnion.h"
#include "llvm/ADT/SmallVector.h"
#include <map>
#include <memory>
#include <string>

namespace gmpi::translate {

/// Why a value, or control, is not the same everywhere: completes "`x` depends on ...".
struct Cause {
  clang::SourceLocation Loc;
  std::string What;          ///< "`threadIdx.x`", "`i < n`", "`*flag`"
  std::string Detail;        ///< what is wrong with it, if that is not plain: "which may be ..."
  bool Proven = true;        ///< it does differ; false: that it is the same could not be shown
  std::string Variable = {}; ///< of a condition: the variable in it that differs, if any
  const Cause *Because = nullptr; ///< of a condition, and only there: why it differs
};

/// Owns the causes, one for each place and text, so that repeated passes make no new ones.
class Causes {
public:
  const Cause *get(Cause New);

private:
  using Key = std::tuple<clang::SourceLocation, std::string, std::string, bool, const Cause *>;
  std::map<Key, std::unique_ptr<Cause>> Known;
};

/// The parts of a thread's index, as bits.
enum IndexPart : unsigned {
  ThreadX = 1,
  ThreadY = 2,
  ThreadZ = 4,
  BlockX = 8,
  BlockY = 16,
  BlockZ = 32,
  AllThread = ThreadX | ThreadY | ThreadZ,
  AllBlock = BlockX | BlockY | BlockZ,
};

/// What a number made of thread indices says about the thread that has it (see SingleThread.h).
struct IndexShape {
  unsigned Parts = 0;     ///< it is zero only where all of these are zero; none: no index
  unsigned Extents = 0;   ///< it is a product with the sizes of these parts (blockDim, gridDim)
  bool Injective = false; ///< no two combinations of Parts have the same value
  unsigned Selects = 0;   ///< where it is true, these parts have one value each
  unsigned Zero = 0;      ///< and these of them are zero

  bool operator==(const IndexShape &) const = default;
};

/// One step from an object to a part of it.
struct PathStep {
  const clang::FieldDecl *Field = nullptr; ///< null: an element
  int Index = AnyIndex;

  static constexpr int AnyIndex = -1;
  auto operator<=>(const PathStep &) const = default;
};
using Path = llvm::SmallVector<PathStep, 2>;

/// What a place is in: a declaration (variable, parameter, function) or the expression that makes a
/// temporary. Of global memory: the kernel parameter that points there, null where unknown.
using Object = llvm::PointerUnion<const clang::ValueDecl *, const clang::Expr *>;

/// A thing in memory, or a part of one.
struct Place {
  enum class Kind : unsigned char { Local, Shared, Global, Function };
  Kind Memory = Kind::Local;
  Object Root;
  Path Steps;           ///< only for Local
  bool Inexact = false; ///< somewhere in the object: only the object is known

  /// Every step names one part.
  bool isExact() const;
  /// The type of the part; null where that is not plain.
  clang::QualType type() const;
  /// "`x`", "`s.count`", or "" for a temporary.
  std::string spelled() const;

  bool operator==(const Place &Other) const;
  bool operator<(const Place &Other) const;
};

struct Value {
  Scope Level = Scope::Grid;
  const Cause *Why = nullptr; ///< null where Level is Grid
  bool Undefined = false;     ///< nothing was stored yet: joins as nothing
  IndexShape Shape;
  llvm::SmallVector<Place, 1> Targets; ///< sorted; where the value may point to

  static Value undefined();
  static Value varying(Scope Level, const Cause *Why);
  static Value pointerTo(Place Target);

  /// Takes over a level and its cause; shape is lost where the level changes.
  void lower(Scope To, const Cause *Because);
  void lower(const Value &Other) { lower(Other.Level, Other.Why); }
  void addTarget(const Place &Target);
  void addTargets(const Value &Other);
  /// Another value that may be here in its place.
  void joinWith(const Value &Other);
  /// Without causes, so that a fixpoint ends; with them, so that messages fit.
  bool sameAs(const Value &Other, bool WithCauses = false) const;
};

/// A cause that is proven wins over one that is not, else the first stays.
void lowerLevel(Scope &Level, const Cause *&Why, Scope To, const Cause *Because);

} // namespace gmpi::translate
