// Functions other than ordinary ones, and those of which there cannot be a second version beside the
// first: for another scope, or split.
#pragma once

#include <string>

namespace clang {
class FunctionDecl;
} // namespace clang

namespace gmpi::translate {

/// The call operator of a lambda.
bool isLambda(const clang::FunctionDecl *Function);

/// Why a call cannot be given to another function in this one's place: "a constructor" is called where
/// nobody writes its name. Empty for functions that are called by their name alone.
std::string calledWithoutName(const clang::FunctionDecl *Function);

/// Why its text cannot be copied under another name, either: the above, or a definition that another
/// declaration must go before. Empty for ordinary functions.
std::string cannotBeCopied(const clang::FunctionDecl *Function);

} // namespace gmpi::translate
