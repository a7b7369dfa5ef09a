// What becomes of a split function's variables at its suspension points: which are live across
// them, which can be had again without being saved, and where in the frame the others lie.
//
// Invariant: a variable that a resumed segment may read is Passed, Recomputed, or has a place in
// the frame at every suspension point at which it is live; two variables share frame memory only
// where no suspension point has both live and both take the same space of each thread. Liveness is
// by position: live at a point is what is named behind it, or anywhere in a loop around it that the
// variable outlives.
#pragma once

#include "SharedPointers.h"
#include "SplitFunctions.h"
#include "VariableUses.h"
#include <optional>

namespace gmpi::translate {

/// How a variable gets across a suspension.
enum class Keeping {
  Passed,     ///< a parameter that stays as it was passed
  Recomputed, ///< its initializer gives the same value again
  Dead,       ///< nobody reads it in a later segment
  Spilled,    ///< saved at the suspension, read back where it is declared
  Reference,  ///< the address it is bound to is saved so
  Resident,   ///< lives in the frame, so that pointers to it stay valid
  Shared,     ///< __shared__, saved by its block
};

/// "spilled", "frame-resident" ...
llvm::StringRef spelling(Keeping How);

struct FrameVariable {
  const clang::VarDecl *Written = nullptr; ///< as written
  const clang::VarDecl *Example;           ///< in one instantiation
  Keeping How = Keeping::Dead;
  bool Uniform = false;     ///< one value for the whole grid: one slot, not one a thread
  bool Dynamic = false;     ///< extern __shared__
  bool Constructed = false; ///< in an instantiation its constructor does something
  unsigned Bytes = 0;       ///< of its slot
  unsigned Offset = 0;      ///< in its area of the frame
  unsigned DeclaredAt = 0, ScopeEnd = 0;
  std::vector<bool> LiveAt; ///< by suspension point
  std::string Why;          ///< completes "... because"

  bool inFrame() const { return How >= Keeping::Spilled; }
};

/// Bytes of a frame's three areas: one for the grid, one a block, one a thread.
struct FrameSize {
  unsigned Uniform = 0, Block = 0, Thread = 0;
  void add(const FrameSize &Other);
};

struct FramePlan {
  std::map<Position, FrameVariable> Variables;
  FrameSize Own; ///< without the functions it calls
  bool DynamicShared = false;
  /// Arguments of device functions that may point into shared memory: suspension point, argument.
  std::vector<std::pair<size_t, unsigned>> SharedArguments;
  /// Threads may return from the kernel and others suspend afterwards.
  bool Exits = false;
  /// Whether the expression can be evaluated once more, and is the same then.
  bool isPure(const clang::Expr *E) const;

  FrameVariable *find(const Locations &Where, const clang::VarDecl *Written);
  const FrameVariable *find(const Locations &Where, const clang::VarDecl *Written) const {
    return const_cast<FramePlan *>(this)->find(Where, Written);
  }
  /// A slot for a value that the translator makes, live at the points that have these resume
  /// points.
  unsigned addTemporary(unsigned Bytes, const SplitFunction &F, unsigned First, unsigned Last);

private:
  friend class FramePlanner;
  struct Slot {
    unsigned Offset, Bytes;
    std::vector<bool> LiveAt;
  };
  std::vector<Slot> ThreadSlots, UniformSlots;
  size_t PointCount = 0;
  std::set<const clang::VarDecl *> Pure; ///< Passed and Recomputed ones, instances too
  unsigned place(std::vector<Slot> &Slots, unsigned &Size, unsigned Bytes,
                 const std::vector<bool> &LiveAt);
};

/// The bytes of a slot for a value of so many.
unsigned slotBytes(unsigned Bytes);

/// Nothing, with the reason told, where a variable cannot be kept.
std::optional<FramePlan>
planFrame(const Pass &Code, const ScopeResult &Scopes, const SplitFunction &Function,
          llvm::function_ref<void(clang::SourceLocation, DiagId, std::vector<std::string>)> Refuse);

} // namespace gmpi::translate
