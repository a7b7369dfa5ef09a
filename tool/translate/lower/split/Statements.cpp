// Guarded re-entry, statement by statement.
#include "../../Precompiled.h"
#include "../../emit/LineDirective.h"
#include "Body.h"
#include "llvm/ADT/StringExtras.h"

namespace gmpi::translate {

using namespace clang;
using llvm::StringRef;

namespace {

std::string versionName(const SplitFunction &F) {
  std::string Version = F.Version == 0 ? "" : "__scope" + std::to_string(F.Version + 1);
  return F.Written->getNameAsString() + Version;
}

} // namespace

std::string splitName(const SplitFunction &F) { return versionName(F) + "__segment"; }
std::string frameName(const SplitFunction &F, unsigned Line) {
  return "gmpi_" + versionName(F) + "_" + std::to_string(Line);
}

BodySplitter::BodySplitter(Lowering &L, const SplitFunction &F, FramePlan &Plan,
                           std::vector<Replacement> Calls, Refusal Refuse)
    : L(L), Where(L.Code), F(F), Plan(Plan), Calls(std::move(Calls)), Refuse(Refuse) {
  for (size_t I = 0; I < F.Points.size(); ++I)
    Points[F.Points[I].Call] = I;
}

bool BodySplitter::split(Edits &Out, const Position &AfterOpeningBrace,
                         const Position &ClosingBrace) {
  findAliases();
  if (!F.Kernel)
    returns(); // first: a guard around it closes behind what it becomes
  insert(AfterOpeningBrace, parameters());
  std::vector<const Stmt *> Statements(F.Written->getBody()->child_begin(),
                                       F.Written->getBody()->child_end());
  sequence(Statements);
  if (!F.Kernel)
    insert(ClosingBrace, "return false; ");
  forEffective(nullptr, [&](const Replacement &R) { Out.replace(R.What, R.Text); });
  return Good;
}

// --- points

const Expr *strip(const Expr *E) {
  for (;;) {
    if (const auto *Cleanups = dyn_cast<ExprWithCleanups>(E))
      E = Cleanups->getSubExpr();
    else if (const auto *Paren = dyn_cast<ParenExpr>(E))
      E = Paren->getSubExpr();
    else if (const auto *Cast = dyn_cast<ImplicitCastExpr>(E))
      E = Cast->getSubExpr();
    else
      return E;
  }
}

std::optional<size_t> BodySplitter::pointOf(const Stmt *S) const {
  const auto *E = dyn_cast_or_null<Expr>(S);
  auto Found = E ? Points.find(strip(E)) : Points.end();
  return Found == Points.end() ? std::nullopt : std::optional(Found->second);
}

BodySplitter::Range BodySplitter::pointsIn(const Stmt *S) const {
  Range All;
  if (!S || isa<LambdaExpr>(S))
    return All;
  auto Add = [&](Range R) {
    if (!R.any())
      return;
    All.First = All.any() ? std::min(All.First, R.First) : R.First;
    All.Last = std::max(All.Last, R.Last);
  };
  if (const auto *E = dyn_cast<Expr>(S))
    if (auto Found = Points.find(E); Found != Points.end()) {
      const SuspensionPoint &Point = F.Points[Found->second];
      Add({Point.First, Point.Last});
    }
  for (const Stmt *Child : S->children())
    Add(pointsIn(Child));
  return All;
}

std::string BodySplitter::within(Range R) {
  if (R.First == R.Last)
    return "gmpi_resume == " + std::to_string(R.First);
  return "(gmpi_resume >= " + std::to_string(R.First) +
         " && gmpi_resume <= " + std::to_string(R.Last) + ")";
}

// --- places

/// With its semicolon.
Span BodySplitter::wholeSpan(const Stmt *S) {
  while (const auto *Attributed = dyn_cast<AttributedStmt>(S)) // a pragma stands before it
    S = Attributed->getSubStmt();
  Span Whole = Where.span(S->getSourceRange());
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
      Span Inner = wholeSpan(Last);
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

/// A pragma belongs to the statement behind it: the place before it.
Position BodySplitter::beforeDirectives(const Position &Begin) const {
  StringRef Text = Begin.File->Text;
  Position At = Begin;
  for (;;) {
    size_t LineBegin = Text.rfind('\n', At.Offset == 0 ? 0 : At.Offset - 1);
    if (LineBegin == StringRef::npos || !Text.slice(LineBegin, At.Offset).trim().empty())
      return At;
    size_t Previous = LineBegin == 0 ? StringRef::npos : Text.rfind('\n', LineBegin - 1);
    unsigned From = Previous == StringRef::npos ? 0 : unsigned(Previous) + 1;
    StringRef Line = Text.slice(From, LineBegin).ltrim();
    if (!Line.starts_with("#pragma"))
      return At;
    At.Offset = From;
  }
}

std::string BodySplitter::oneLine(const std::string &Text) {
  auto Line = onOneLine(Text);
  return !Line ? Text : Line->empty() ? "" : *Line + " ";
}

/// Line breaks that a replacement lacks, so that later lines keep their numbers.
std::string BodySplitter::missingLines(const Span &Old, StringRef New) {
  auto Before = Old.text().count('\n'), After = New.count('\n');
  return std::string(Before > After ? Before - After : 0, '\n');
}

// --- sequences

void BodySplitter::openGroup(const Stmt *S) {
  Span Whole = wholeSpan(S);
  if (!Whole.isValid())
    return refuse(S->getBeginLoc(), DiagId::split_macro);
  Position Begin = beforeDirectives(Whole.Begin);
  if (GroupOpen && GroupEnd.File == Whole.Begin.File &&
      !StringRef(GroupEnd.File->Text).slice(GroupEnd.Offset, Whole.Begin.Offset).contains("\n#") &&
      Begin == Whole.Begin) {
    GroupEnd.Offset = Whole.End;
    return;
  }
  closeGroup();
  GroupOpen = true;
  bool Directive = !(Begin == Whole.Begin);
  insert(Begin, Directive ? "if (!gmpi_re) {\n" + lineDirective(*Begin.File, Begin.line())
                          : "if (!gmpi_re) { ");
  GroupEnd = {Whole.Begin.File, Whole.End};
}

void BodySplitter::closeGroup() {
  if (GroupOpen)
    insert(GroupEnd, " }");
  GroupOpen = false;
}

void BodySplitter::sequence(llvm::ArrayRef<const Stmt *> Statements) {
  bool Outer = std::exchange(GroupOpen, false);
  Position OuterEnd = GroupEnd;
  std::vector<bool> Later(Statements.size());
  bool Any = false;
  for (size_t I = Statements.size(); I-- > 0;) {
    Later[I] = Any;
    Any |= pointsIn(Statements[I]).any();
  }
  for (size_t I = 0; I < Statements.size(); ++I) {
    const Stmt *S = Statements[I];
    while (const auto *Case = dyn_cast<SwitchCase>(S)) {
      closeGroup();
      S = Case->getSubStmt();
    }
    if (isa<LabelStmt, GotoStmt, IndirectGotoStmt>(S))
      refuse(S->getBeginLoc(), DiagId::split_goto);
    if (pointsIn(S).any()) {
      closeGroup();
      statement(S, Later[I]);
    } else if (Later[I]) {
      if (const auto *Declaration = dyn_cast<DeclStmt>(S)) {
        closeGroup();
        declaration(Declaration, /*Later=*/true);
      } else if (!isa<NullStmt>(S)) {
        openGroup(S);
      }
    }
  }
  closeGroup();
  GroupOpen = Outer;
  GroupEnd = OuterEnd;
}

bool BodySplitter::fromMacro(const Stmt *S) const {
  return !Where.spelled(S->getBeginLoc()).isValid();
}

/// A statement with suspension points.
void BodySplitter::statement(const Stmt *S, bool Later) {
  if (fromMacro(S))
    return macroStatement(S, Later);
  Span Whole = wholeSpan(S);
  if (!Whole.isValid())
    return refuse(S->getBeginLoc(), DiagId::split_macro);
  const Stmt *Inner = S;
  while (const auto *Attributed = dyn_cast<AttributedStmt>(Inner))
    Inner = Attributed->getSubStmt();
  Items Before;
  const Expr *Own = nullptr; // the expression whose calls are made before the statement
  const Expr *Alone = nullptr;
  if (const auto *E = dyn_cast<Expr>(Inner)) {
    Own = E;
    const auto *Void = dyn_cast<CStyleCastExpr>(E);
    const Expr *Call = Void && Void->getType()->isVoidType() ? Void->getSubExpr() : E;
    Alone = pointOf(Call) ? strip(Call) : nullptr;
  } else if (const auto *Return = dyn_cast<ReturnStmt>(Inner))
    Own = Return->getRetValue();
  else if (const auto *If = dyn_cast<IfStmt>(Inner))
    Own = If->getCond();
  else if (const auto *Switch = dyn_cast<SwitchStmt>(Inner))
    Own = Switch->getCond();
  if (const auto *Declaration = dyn_cast<DeclStmt>(Inner))
    return declaration(Declaration, Later);
  Range R = pointsIn(S);
  if (Alone) { // the call is the whole statement
    hoistCall(cast<CallExpr>(Alone), *pointOf(Alone), Before, /*ValueUsed=*/false);
    std::string Text = emit(Before, false);
    bool Braces = Later || Before.size() > 1;
    Text = (Later ? guard(R) : "") + (Braces ? "{ " : "") + Text + (Braces ? "}" : "");
    return replace(Whole, StringRef(Text).rtrim(' ').str() + missingLines(Whole, Text));
  }
  if (Own && pointsIn(Own).any())
    hoist(Own, Before);
  bool RestHasPoints = false;
  if (!isa<Expr>(Inner))
    for (const Stmt *Child : Inner->children())
      RestHasPoints |= Child != Own && pointsIn(Child).any();
  std::string Prefix = oneLine(emit(Before, RestHasPoints));
  bool Braces = Later || !Before.empty() || isa<SwitchStmt, ForStmt, IfStmt, CXXForRangeStmt>(Inner);
  Position At = beforeDirectives(Whole.Begin);
  std::string Directive =
      At == Whole.Begin ? "" : "\n" + lineDirective(*At.File, At.line());
  if (Braces)
    insert(At, (Later ? guard(R) : "") + "{ " + Prefix + Directive);
  structure(Inner);
  if (Braces)
    insert({Whole.Begin.File, Whole.End}, " }");
}

void BodySplitter::structure(const Stmt *S) {
  if (const auto *Compound = dyn_cast<CompoundStmt>(S))
    return sequence(std::vector<const Stmt *>(Compound->body_begin(), Compound->body_end()));
  if (const auto *If = dyn_cast<IfStmt>(S))
    return ifStatement(If);
  if (const auto *For = dyn_cast<ForStmt>(S))
    return forStatement(For);
  if (const auto *While = dyn_cast<WhileStmt>(S))
    return whileStatement(While);
  if (const auto *Do = dyn_cast<DoStmt>(S))
    return doStatement(Do);
  if (const auto *Switch = dyn_cast<SwitchStmt>(S))
    return switchStatement(Switch);
  if (const auto *Range = dyn_cast<CXXForRangeStmt>(S))
    return rangeFor(Range);
  if (isa<Expr, ReturnStmt>(S))
    return; // its calls are made before it
  if (isa<LabelStmt, GotoStmt, IndirectGotoStmt>(S))
    return refuse(S->getBeginLoc(), DiagId::split_goto);
  refuse(S->getBeginLoc(), DiagId::split_statement);
}

/// A branch or loop body; what is not in braces gets them.
void BodySplitter::body(const Stmt *S, const std::string &First) {
  if (const auto *Compound = dyn_cast<CompoundStmt>(S); Compound && !fromMacro(S)) {
    Position Open = Where.position(Compound->getLBracLoc());
    if (!First.empty())
      insert({Open.File, Open.Offset + 1}, " " + First);
    return structure(S);
  }
  Span Whole = wholeSpan(S);
  if (!Whole.isValid())
    return refuse(S->getBeginLoc(), DiagId::split_macro);
  insert(Whole.Begin, "{ " + First);
  sequence({S});
  insert({Whole.Begin.File, Whole.End}, " }");
}

/// Calls made by a statement that a macro expands to: only where its condition or one of its
/// expressions makes them once, whatever happens.
void BodySplitter::macroStatement(const Stmt *S, bool Later) {
  Span Whole = wholeSpan(S);
  const Stmt *At = S;
  const Expr *Own = nullptr;
  while (!Own && At) {
    const Stmt *Next = nullptr;
    unsigned Count = 0;
    for (const Stmt *Child : At->children())
      if (pointsIn(Child).any()) {
        Next = Child;
        ++Count;
      }
    bool Once = isa<CompoundStmt, DeclStmt, DoStmt>(At) ||
                (isa<IfStmt>(At) && Next == cast<IfStmt>(At)->getCond());
    if (const auto *E = dyn_cast<Expr>(At))
      Own = E;
    else if (Count != 1 || !Once || (isa<DoStmt>(At) && Next != cast<DoStmt>(At)->getBody()))
      break;
    At = Next;
  }
  if (!Whole.isValid() || !Own)
    return refuse(S->getBeginLoc(), DiagId::split_macro);
  Items Before;
  hoist(Own, Before);
  Range R = pointsIn(S);
  std::string Prefix = oneLine(emit(Before, false));
  insert(Whole.Begin, (Later ? guard(R) : "") + "{ " + Prefix);
  insert({Whole.Begin.File, Whole.End}, " }");
}

// --- control flow

void BodySplitter::ifStatement(const IfStmt *S) {
  Range Then = pointsIn(S->getThen()), Else = pointsIn(S->getElse());
  moveInit(S, S->getInit(), /*Always=*/S->getConditionVariable() != nullptr);
  std::string Enter = Then.any() && Else.any() ? within(Then) : Then.any() ? "true" : "false";
  bool Any = Then.any() || Else.any();
  if (const DeclStmt *Variable = S->getConditionVariableDeclStmt()) {
    Span Whole = wholeSpan(Variable);
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
  std::string Directive = At == Where.position(S->getBeginLoc())
                              ? ""
                              : "\n" + lineDirective(*At.File, At.line());
  if (const auto *Declaration = dyn_cast<DeclStmt>(Init)) {
    if (!Always && staysInHeader(Declaration))
      return;
    insert(At, movedDeclaration(Declaration, /*Later=*/true) + Directive);
    return replace(wholeSpan(Declaration), ";");
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
    Span Whole = wholeSpan(Variable);
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
  std::string First = guard(pointsIn(Condition)) + "{ " + oneLine(emit(Before, false)) +
                      "if (!(" + oneLine(render(Condition)) + ")) break; } ";
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
  Span Whole = wholeSpan(S), Text = Where.span(Condition->getSourceRange());
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
    Span Header = wholeSpan(Variable);
    std::string Name = temporary("gmpi_switch");
    std::string Slot = keep(Name, pointsIn(S->getBody()));
    insert(Where.position(S->getSwitchLoc()),
           movedDeclaration(Variable, true) + "auto " + Name +
               " = gmpi_re ? gmpi_frame.saved_auto<" + Slot + ">() : (" +
               S->getConditionVariable()->getNameAsString() + "); ");
    replaceWithEnd({Header.Begin, Where.position(S->getRParenLoc()).Offset}, Name);
  } else if (pointsIn(S->getBody()).any()) {
    // Control comes back by the label it went in by.
    Span Text = Where.span(S->getCond()->getSourceRange()), Whole = wholeSpan(S);
    if (!Text.isValid() || !Whole.isValid())
      return refuse(S->getBeginLoc(), DiagId::split_macro);
    std::string Name = temporary("gmpi_switch");
    std::string Slot = keep(Name, pointsIn(S->getBody()));
    insert(Whole.Begin, "auto " + Name + " = gmpi_re ? gmpi_frame.saved_auto<" + Slot + ">() : (" +
                            render(S->getCond()) + "); ");
    replace(Text, Name);
  }
  body(S->getBody());
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
              ">(); if (!gmpi_re) ::gmpi::split::copy(" + V->getNameAsString() + ", " + Value + "); ";
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

/// A device function's value goes through a reference; what it returns is whether it suspended.
void BodySplitter::returns() {
  struct Visitor : RecursiveASTVisitor<Visitor> {
    std::vector<const ReturnStmt *> All;
    bool TraverseLambdaExpr(LambdaExpr *) { return true; }
    bool VisitReturnStmt(ReturnStmt *S) {
      All.push_back(S);
      return true;
    }
  } Found;
  Found.TraverseStmt(F.Written->getBody());
  for (const ReturnStmt *S : Found.All) {
    Span Word = Where.token(S->getReturnLoc()), Whole = wholeSpan(S);
    if (!Word.isValid() || !Whole.isValid()) {
      refuse(S->getBeginLoc(), DiagId::split_macro);
      continue;
    }
    if (!S->getRetValue()) {
      replace(Word, "return false");
      continue;
    }
    QualType Type = F.Written->getReturnType();
    bool Address = Type->isReferenceType();
    replace(Word, Type->isVoidType() ? "{" : Address ? "{ gmpi_result = &(" : "{ gmpi_result =");
    if (Span Value = Where.span(S->getRetValue()->getSourceRange()); Address && Value.isValid())
      insert({Whole.Begin.File, Value.End}, ")");
    insert({Whole.Begin.File, Whole.End}, " return false; }");
  }
}

} // namespace gmpi::translate
