// From Clang's locations to places in the user's text that can be edited.
#pragma once

#include "../parse/Parse.h"
#include <optional>

namespace gmpi::translate {

class Locations {
public:
  explicit Locations(const Pass &P) : P(P) {}
  const Pass &pass() const { return P; }

  /// Where this token is spelled, if it stands in a file: directly or as a macro's argument, not in
  /// a macro's body. Else an invalid location.
  clang::SourceLocation spelled(clang::SourceLocation Loc) const;
  Position position(clang::SourceLocation Loc) const { return P.position(spelled(Loc)); }
  /// The piece of a file that these tokens are, macros used within it included.
  Span span(clang::SourceRange Tokens) const;
  /// A statement with its semicolon; of one behind a pragma or attribute, that left out.
  Span statement(const clang::Stmt *S) const;
  /// The one token at this place.
  Span token(clang::SourceLocation Loc) const;
  /// Where a message about Loc belongs: the outermost expansion.
  clang::SourceLocation shown(clang::SourceLocation Loc) const;
  /// The macro in whose body Loc is spelled, and where that body is; empty if there is none.
  std::pair<std::string, clang::SourceLocation> macroOf(clang::SourceLocation Loc) const;
  bool inSystemHeader(clang::SourceLocation Loc) const;

private:
  const Pass &P;
};

} // namespace gmpi::translate
