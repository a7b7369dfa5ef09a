// Guarded re-entry: branches, loops and switches, whose headers let control in where the resume
// point is within.
#include "../../Precompiled.h"
#include "../../emit/LineDirective.h"
#include "Body.h"

namespace gmpi::translate {

using namespace clang;
using llvm::StringRef;

void BodySplitter::ifStatement(const IfStmt *S) {
  Range Then = pointsIn(S->getThen()), Else = pointsIn(S->getElse());
  moveInit(S, S->getInit(), /*Always=*/S->getConditionVariable() != nullptr);
  std::string Enter = Then.any() && Else.any() ? within(Then) : Then.any() ? "true" : "false";
  bool Any = Then.any() || Else.any();
  if (const DeclStmt *Variable = S->getConditionVariableDeclStmt()) {
    Span Whole = Where.statement(Variable);
    std::string Name = S->getConditionVariable()->getNameAsString();
    insert(Where.position(S->getIfLoc()), movedDeclaration(Variable, Any));
    replaceWithEnd({Whole.Begin, Where.position(S->getRParenLoc()).Offset},
                   Any ? "gmpi_re ? " + Enter + " : static_cast<bool>(" + Name + ")" : Name);
  } else if (!S->isConstexpr() && Any) {
    Span Condition = Where.span(S->getCond()->getSourceRange());
    if (!Condition.isValid())
      return refuse(S->getCond()->getBeginLoc(), DiagId::split_macro);
    insert(Condition.Begin, "gmpi_re ? " + Enter + " : static_cast<bool>(");
    insert({Condition.Begin.File, Condition.End}, ")");
  }
  if (Then.any())
    body(S->getThen());
  if (Else.any())
    body(S->getElse());
}

/// Lets control in where the resume point is in the loop.
void BodySplitter::loopCondition(const Expr *Condition) {
  Span Text = Where.span(Condition->getSourceRange());
  if (!Text.isValid())
    return refuse(Condition->getBeginLoc(), DiagId::split_macro);
  insert(Text.Begin, "gmpi_re || (");
  insert({Text.Begin.File, Text.End}, ")");
}

/// A declaration of a header, to stand before the statement, within the braces around it.
std::string BodySplitter::movedDeclaration(const DeclStmt *S, bool Later) {
  if (const auto *Bindings = dyn_cast<DecompositionDecl>(*S->decl_begin())) {
    FrameVariable *Of = Plan.find(Where, Bindings);
    return Of ? decomposition(S, Bindings, *Of) + " " : "";
  }
  return separately(S, Later);
}

/// Replaces what has been edited before, with what was inserted right behind it.
void BodySplitter::replaceWithEnd(const Span &What, const std::string &Text) {
  replace({What.Begin, What.End + 1}, Text + What.Begin.File->Text[What.End]);
}

/// The first part of a header goes before the statement, within the braces around it.
void BodySplitter::moveInit(const Stmt *S, const Stmt *Init, bool Always) {
  if (!Init || isa<NullStmt>(Init))
    return;
  Position At = beforeDirectives(Where.position(S->getBeginLoc()));
  std::string Directive =
      At == Where.position(S->getBeginLoc()) ? "" : "\n" + lineDirective(*At.File, At.line());
  if (const auto *Declaration = dyn_cast<DeclStmt>(Init)) {
    if (!Always && staysInHeader(Declaration))
      return;
    insert(At, movedDeclaration(Declaration, /*Later=*/true) + Directive);
    return replace(Where.statement(Declaration), ";");
  }
  const auto *E = cast<Expr>(Init);
  Items Before;
  hoist(E, Before);
  Span Text = Where.span(E->getSourceRange());
  if (!Text.isValid())
    return refuse(E->getBeginLoc(), DiagId::split_macro);
  insert(At, oneLine(emit(Before, true) + "if (!gmpi_re) { " + render(Text) + "; } ") + Directive);
  replace(Text, "");
}

/// The condition at the top of a loop's body, where `continue` comes back to. Makes it vanish from
/// the header.
std::string BodySplitter::conditionInBody(const Expr *Condition, const DeclStmt *Variable,
                                          const std::string &Left) {
  if (Variable) {
    Span Whole = Where.statement(Variable);
    std::string Name = cast<VarDecl>(Variable->getSingleDecl())->getNameAsString();
    std::string Text = movedDeclaration(Variable, true) + "if (!gmpi_re && !static_cast<bool>(" +
                       Name + ")) break; ";
    const Expr *Init = cast<VarDecl>(Variable->getSingleDecl())->getInit();
    Span Last = Where.span(Init->getSourceRange());
    replaceWithEnd({Whole.Begin, Last.isValid() ? Last.End : Whole.End}, Left);
    return Text;
  }
  Items Before;
  hoist(Condition, Before);
  Span Text = Where.span(Condition->getSourceRange());
  if (!Text.isValid()) {
    refuse(Condition->getBeginLoc(), DiagId::split_macro);
    return "";
  }
  std::string First = guard(pointsIn(Condition)) + "{ " + oneLine(emit(Before, false)) + "if (!(" +
                      oneLine(render(Condition)) + ")) break; } ";
  replace(Text, Left);
  return First;
}

void BodySplitter::forStatement(const ForStmt *S) {
  moveInit(S, S->getInit());
  std::string First;
  if (const Expr *Increment = S->getInc(); Increment && pointsIn(Increment).any()) {
    // From the second time on, it is made at the top of the body.
    std::string Flag = temporary("gmpi_first");
    Items Before;
    hoist(Increment, Before);
    Span Text = Where.span(Increment->getSourceRange());
    if (!Text.isValid())
      return refuse(Increment->getBeginLoc(), DiagId::split_macro);
    First = "if (gmpi_re ? " + within(pointsIn(Increment)) + " : !" + Flag + ") { " +
            oneLine(emit(Before, false) + render(Text)) + "; } ";
    insert(Where.position(S->getForLoc()), "bool " + Flag + " = true; ");
    replace(Text, Flag + " = false");
  }
  const Expr *Condition = S->getCond();
  if (S->getConditionVariable() || (Condition && pointsIn(Condition).any()))
    First += conditionInBody(Condition, S->getConditionVariableDeclStmt(), "");
  else if (Condition && !First.empty()) {
    First += "if (!gmpi_re && !(" + oneLine(render(Condition)) + ")) break; ";
    replace(Where.span(Condition->getSourceRange()), "");
  } else if (Condition)
    loopCondition(Condition);
  body(S->getBody(), First);
}

void BodySplitter::whileStatement(const WhileStmt *S) {
  std::string First;
  if (S->getConditionVariable() || pointsIn(S->getCond()).any())
    First = conditionInBody(S->getCond(), S->getConditionVariableDeclStmt(), "true");
  else
    loopCondition(S->getCond());
  body(S->getBody(), First);
}

void BodySplitter::doStatement(const DoStmt *S) {
  const Expr *Condition = S->getCond();
  if (!pointsIn(Condition).any())
    return body(S->getBody());
  // `do B while (c)`: from the second time on, c is evaluated before B, where `continue` leads too.
  Items Before;
  hoist(Condition, Before);
  Span Whole = Where.statement(S), Text = Where.span(Condition->getSourceRange());
  Span Do = Where.token(S->getDoLoc());
  Position While = Where.position(S->getWhileLoc());
  if (!Whole.isValid() || !Text.isValid() || !Do.isValid() || !While.isValid())
    return refuse(S->getBeginLoc(), DiagId::split_macro);
  std::string Flag = temporary("gmpi_first");
  Range R = pointsIn(Condition);
  std::string Prefix = oneLine(emit(Before, false));
  std::string First = "if (gmpi_re ? " + within(R) + " : !" + Flag + ") { " + Prefix + "if (!(" +
                      render(Condition) + ")) break; } ";
  replace(Do, "for (bool " + Flag + " = true;; " + Flag + " = false) {");
  std::string Lines(StringRef(Whole.text()).substr(While.Offset - Whole.Begin.Offset).count('\n'),
                    '\n');
  body(S->getBody(), First);
  replace({While, Whole.End}, Lines + "}");
}

void BodySplitter::switchStatement(const SwitchStmt *S) {
  moveInit(S, S->getInit(), /*Always=*/true);
  if (const DeclStmt *Variable = S->getConditionVariableDeclStmt()) {
    // Its value is what the labels are compared with, and may change meanwhile: it is kept as well.
    Span Header = Where.statement(Variable);
    std::string Name = temporary("gmpi_switch");
    std::string Slot = keep(Name, pointsIn(S->getBody()));
    insert(Where.position(S->getSwitchLoc()),
           movedDeclaration(Variable, true) + "auto " + Name +
               " = gmpi_re ? gmpi_frame.saved_auto<" + Slot + ">() : (" +
               S->getConditionVariable()->getNameAsString() + "); ");
    replaceWithEnd({Header.Begin, Where.position(S->getRParenLoc()).Offset}, Name);
  } else if (pointsIn(S->getBody()).any()) {
    // Control comes back by the label it went in by.
    Span Text = Where.span(S->getCond()->getSourceRange()), Whole = Where.statement(S);
    if (!Text.isValid() || !Whole.isValid())
      return refuse(S->getBeginLoc(), DiagId::split_macro);
    std::string Name = temporary("gmpi_switch");
    std::string Slot = keep(Name, pointsIn(S->getBody()));
    insert(Whole.Begin, "auto " + Name + " = gmpi_re ? gmpi_frame.saved_auto<" + Slot + ">() : (" +
                            render(S->getCond()) + "); ");
    replace(Text, Name);
  }
  auto Outer = std::exchange(CrossedByLabels, {});
  body(S->getBody());
  CrossedByLabels = std::move(Outer);
}

/// A slot for a value of the translator's that is live in the whole of a statement.
std::string BodySplitter::keep(const std::string &Name, Range R) {
  std::string Slot = std::to_string(Plan.addTemporary(8, F, R.First, R.Last)) + ", 8";
  for (size_t I = 0; I < F.Points.size(); ++I)
    if (F.Points[I].First >= R.First && F.Points[I].Last <= R.Last)
      Extra[I] += "gmpi_frame.save<" + Slot + ">(" + Name + "); ";
  return Slot;
}

/// `for (T x : r)` over iterators that are kept.
void BodySplitter::rangeFor(const CXXForRangeStmt *S) {
  const VarDecl *V = S->getLoopVariable();
  const Expr *Over = S->getRangeInit();
  Span Header = Where.span({S->getLoopVarStmt()->getBeginLoc(), Over->getEndLoc()});
  Span Declared = Where.span({S->getLoopVarStmt()->getBeginLoc(), V->getLocation()});
  Span Range = Where.span(Over->getSourceRange());
  if (S->getInit())
    return refuse(S->getBeginLoc(), DiagId::split_declaration);
  if (!Header.isValid() || !Declared.isValid() || !Range.isValid())
    return refuse(S->getBeginLoc(), DiagId::split_macro);
  if (!harmless(Over, true) || pointsIn(Over).any())
    return refuse(Over->getBeginLoc(), DiagId::split_expression);
  std::string Name = temporary("gmpi_at"), Text = render(Over);
  if (!Over->isLValue()) {
    // A temporary: iterators that point into it are lost with it.
    const auto *Begin = S->getBeginStmt();
    const auto *Iterator = Begin ? dyn_cast<VarDecl>(Begin->getSingleDecl()) : nullptr;
    if (!Iterator || Iterator->getType()->isPointerType() || Over->isTypeDependent())
      return refuse(Over->getBeginLoc(), DiagId::split_expression);
    std::string Value = temporary("gmpi_range");
    insert(Where.position(S->getForLoc()), "auto &&" + Value + " = " + oneLine(Text) + "; ");
    Text = Value;
  }
  std::string Slot = keep(Name, pointsIn(S->getBody()));
  FrameVariable *Of = Plan.find(Where, V);
  std::string Value = "*" + Name, Element;
  if (const auto *Bindings = dyn_cast<DecompositionDecl>(V); Bindings && Of) {
    Element = bindings(Header, Bindings, *Of, Value) + " ";
  } else if (Of && Of->How == Keeping::Resident) {
    std::string Type = "gmpi_" + V->getNameAsString() + "_t";
    Element = "using " + Type + " = ::gmpi::split::Plain<decltype(" + Value + ")>; " + Type + " &" +
              V->getNameAsString() + " = gmpi_frame.resident<" + Type + ", " +
              std::to_string(Of->Offset) + ", " + std::to_string(Of->Bytes) +
              ">(); if (!gmpi_re) ::gmpi::split::copy(" + V->getNameAsString() + ", " + Value +
              "); ";
  } else {
    if (Of && Of->How == Keeping::Spilled)
      Value = "gmpi_re ? " + savedValue(*Of, V->getNameAsString()) + " : (" + Value + ")";
    Element = render(Declared) + " = " + Value + "; ";
  }
  replace(Header, "auto " + Name + " = gmpi_re ? gmpi_frame.saved_auto<" + Slot +
                      ">() : ::gmpi::split::begin(" + Text + "); gmpi_re || " + Name +
                      " != ::gmpi::split::end(" + Text + "); ++" + Name);
  body(S->getBody(), Element + (Of ? declareAlias(*Of) : ""));
}

} // namespace gmpi::translate
