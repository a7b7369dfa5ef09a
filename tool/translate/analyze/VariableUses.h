// What a function does with each of its local variables: where it is named, whether it is changed,
// whether its address may be kept. Read off one instantiation's statements and merged by place.
//
// Invariant: a variable whose address may outlive the expression it is taken in (bound to a
// reference, passed by reference or pointer, an array that decays, an object whose member function
// is called) counts as AddressTaken. The arguments of MPI calls are none of these.
#pragma once

#include "../model/Locations.h"
#include <map>
#include <set>
#include <string>
#include <vector>

namespace clang {
class Expr;
class FunctionDecl;
class VarDecl;
} // namespace clang

namespace gmpi::translate {

struct VariableUses {
  std::vector<const clang::VarDecl *> Instances; ///< one an instantiation
  std::vector<unsigned> At;                      ///< offsets at which it is named
  bool Modified = false;
  bool AddressTaken = false;
  bool Decays = false; ///< an array that becomes a pointer other than to be indexed
};

/// Of one function, by where the variable's name is declared (a structured binding: where its
/// declaration begins).
class FunctionVariables {
public:
  explicit FunctionVariables(const Pass &Code) : Where(Code) {}

  /// Adds what one instantiation does.
  void add(const clang::FunctionDecl *Instance);
  const VariableUses *find(const clang::VarDecl *Variable) const;

private:
  friend class UseVisitor;
  Locations Where;
  std::map<Position, VariableUses> ByPlace;
};

/// Where a variable's declaration stands: the same for the pattern and its instantiations.
Position placeOf(const Locations &Where, const clang::VarDecl *Variable);
/// Where a token stands in the user's file, whichever macros it came through.
Position anyPlace(const Locations &Where, const Pass &Code, clang::SourceLocation Loc);

} // namespace gmpi::translate
