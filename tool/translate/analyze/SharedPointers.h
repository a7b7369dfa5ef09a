// Which local variables may hold addresses of __shared__ memory: such addresses mean nothing in
// another segment, whose block may have its shared memory elsewhere.
//
// Invariant: found by assignments alone, whatever the control flow; a number loaded from shared
// memory is no address.
#pragma once

#include "../model/Locations.h"
#include <set>

namespace clang {
class Expr;
class FunctionDecl;
class VarDecl;
} // namespace clang

namespace gmpi::translate {

class SharedPointers {
public:
  explicit SharedPointers(const Pass &Code) : Where(Code) {}

  /// Adds what one instantiation assigns.
  void add(const clang::FunctionDecl *Instance);
  bool mayPoint(const clang::VarDecl *Variable) const;
  /// Whether the expression's value may be, or hold, such an address.
  bool mayPoint(const clang::Expr *Value) const;

private:
  friend class PointerVisitor;
  Locations Where;
  std::set<Position> Found; ///< by where the variable is declared
};

} // namespace gmpi::translate
