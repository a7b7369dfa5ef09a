// Macro expansions undone, where they can be.
#include "Locations.h"
#include "clang/AST/StmtCXX.h"
#include "clang/Lex/Preprocessor.h"

namespace gmpi::translate {

using namespace clang;
using llvm::StringRef;

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

Span Locations::statement(const Stmt *S) const {
  while (const auto *Attributed = dyn_cast<AttributedStmt>(S)) // a pragma stands before it
    S = Attributed->getSubStmt();
  Span Whole = span(S->getSourceRange());
  if (!Whole.isValid())
    return Whole;
  if (isa<CompoundStmt, IfStmt, ForStmt, WhileStmt, SwitchStmt, CXXForRangeStmt, DeclStmt>(S)) {
    const Stmt *Last = S;
    for (;;) {
      if (const auto *If = dyn_cast<IfStmt>(Last))
        Last = If->getElse() ? If->getElse() : If->getThen();
      else if (const auto *For = dyn_cast<ForStmt>(Last))
        Last = For->getBody();
      else if (const auto *While = dyn_cast<WhileStmt>(Last))
        Last = While->getBody();
      else if (const auto *Switch = dyn_cast<SwitchStmt>(Last))
        Last = Switch->getBody();
      else if (const auto *Range = dyn_cast<CXXForRangeStmt>(Last))
        Last = Range->getBody();
      else if (const auto *Attributed = dyn_cast<AttributedStmt>(Last))
        Last = Attributed->getSubStmt();
      else
        break;
    }
    if (isa<CompoundStmt, DeclStmt, NullStmt>(Last))
      return Whole;
    if (Last != S) {
      Span Inner = statement(Last);
      Whole.End = Inner.isValid() ? Inner.End : Whole.End;
      return Whole;
    }
  }
  StringRef Text = Whole.Begin.File->Text;
  unsigned End = Whole.End;
  while (End < Text.size()) {
    StringRef Rest = Text.substr(End);
    if (llvm::isSpace(Rest.front()))
      ++End;
    else if (Rest.starts_with("//"))
      End += unsigned(std::min(Rest.find('\n'), Rest.size()));
    else if (Rest.starts_with("/*"))
      End += unsigned(std::min(Rest.find("*/") + 2, Rest.size()));
    else
      break;
  }
  if (End < Text.size() && Text[End] == ';')
    Whole.End = End + 1;
  return Whole;
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
