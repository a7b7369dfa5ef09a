// A function's signature as the user wrote it, taken apart into the pieces that generated text is
// made of. Text is always the user's own, so that types stay spelled as they were.
#pragma once

#include "../model/Locations.h"
#include "clang/AST/TypeLoc.h"
#include <optional>
#include <string>
#include <vector>

namespace clang {
class FunctionDecl;
class VarDecl;
} // namespace clang

namespace gmpi::translate {

struct Parameter {
  std::string Text;    ///< `T *buf`: named, without default argument
  std::string Name;    ///< `buf`; made up where the user gave none
  std::string Default; ///< `= 1`, or empty
  bool Pack = false;
  bool Named = true; ///< by the user
};

struct Signature {
  Span Whole;    ///< from `template` or the first specifier to the closing brace or `;`
  Span Name;     ///< the name's token
  Position Head; ///< where the template head ends (Whole.Begin where there is none)
  Position OpenParen, CloseParen;
  Position Body;            ///< the opening brace; invalid for a declaration
  std::string TemplateHead; ///< `template <class T>` or empty; all parameters named
  std::vector<std::string> TemplateArguments; ///< `T`, `N...`
  std::vector<Parameter> Parameters;
  std::vector<Span> DefaultArguments; ///< with their `=`

  std::string declaration() const; ///< all before the body, on one line

  std::string templateArguments() const;           ///< `<T, N...>` or empty
  std::string parameters(bool WithDefaults) const; ///< `T *buf, int n = 1`
  std::string parameterTypes() const;              ///< `decltype(buf), decltype(n)`
  std::string arguments() const;                   ///< `buf, n`
  std::string namedArguments() const;              ///< those that declaration() names
};

/// Nothing, with the reason told, where macros or preprocessor directives are in the way.
std::optional<Signature> readSignature(const Pass &P, const clang::FunctionDecl *Function);

/// The type that a declaration's specifiers alone name: `int` of `int *a[3]`.
clang::TypeLoc specifierType(const clang::VarDecl *V);

/// Tokens of a piece of text on one line, comments left out. Nothing if a directive is among them.
std::optional<std::string> onOneLine(llvm::StringRef Text);

} // namespace gmpi::translate
