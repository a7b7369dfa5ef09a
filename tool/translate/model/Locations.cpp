// Macro expansions undone, where they can be.
#include "Locations.h"
#include "clang/Lex/Preprocessor.h"

namespace gmpi::translate {

using clang::CharSourceRange;
using clang::SourceLocation;

SourceLocation Locations::spelled(SourceLocation Loc) const {
  const clang::SourceManager &Sources = P.sources();
  while (Loc.isValid() && Loc.isMacroID()) {
    if (!Sources.isMacroArgExpansion(Loc))
      return {};
    Loc = Sources.getImmediateSpellingLoc(Loc);
  }
  return Loc;
}

Span Locations::span(clang::SourceRange Tokens) const {
  const clang::LangOptions &Language = P.context().getLangOpts();
  CharSourceRange Range = clang::Lexer::makeFileCharRange(CharSourceRange::getTokenRange(Tokens),
                                                          P.sources(), Language);
  if (Range.isInvalid())
    return {};
  Position Begin = P.position(Range.getBegin()), End = P.position(Range.getEnd());
  if (!Begin.isValid() || Begin.File != End.File)
    return {};
  return {Begin, End.Offset};
}

Span Locations::token(SourceLocation Loc) const {
  Loc = spelled(Loc);
  Position Begin = P.position(Loc);
  if (!Begin.isValid())
    return {};
  unsigned Length = clang::Lexer::MeasureTokenLength(Loc, P.sources(), P.context().getLangOpts());
  return {Begin, Begin.Offset + Length};
}

SourceLocation Locations::shown(SourceLocation Loc) const {
  return P.sources().getExpansionLoc(Loc);
}

std::pair<std::string, SourceLocation> Locations::macroOf(SourceLocation Loc) const {
  const clang::SourceManager &Sources = P.sources();
  while (Loc.isMacroID()) {
    if (!Sources.isMacroArgExpansion(Loc))
      return {clang::Lexer::getImmediateMacroName(Loc, Sources, P.context().getLangOpts()).str(),
              Sources.getSpellingLoc(Loc)};
    Loc = Sources.getImmediateSpellingLoc(Loc);
  }
  return {};
}

bool Locations::inSystemHeader(SourceLocation Loc) const {
  SourceLocation Spelled = P.sources().getExpansionLoc(Loc);
  Position Where = P.position(Spelled);
  return !Where.isValid() || Where.File->System;
}

} // namespace gmpi::translate
