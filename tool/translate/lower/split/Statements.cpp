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
  Span Whole = Where.statement(S);
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
  size_t Crossed = CrossedByLabels.size();
  std::vector<bool> Later(Statements.size());
  bool Any = false;
  for (size_t I = Statements.size(); I-- > 0;) {
    Later[I] = Any;
    Any |= pointsIn(Statements[I]).any();
  }
  for (size_t I = 0; I < Statements.size(); ++I) {
    const Stmt *S = Statements[I];
    const SwitchCase *Label = nullptr;
    while (const auto *Case = dyn_cast<SwitchCase>(S)) {
      closeGroup();
      S = Case->getSubStmt();
      Label = Case;
    }
    if (Label && (Later[I] || pointsIn(S).any()))
      restoreCrossed(Label);
    if (isa<LabelStmt, GotoStmt, IndirectGotoStmt>(S))
      refuse(S->getBeginLoc(), DiagId::split_goto);
    if (pointsIn(S).any()) {
      closeGroup();
      statement(S, Later[I]);
    } else if (Later[I]) {
      if (const auto *Declaration = dyn_cast<DeclStmt>(S)) {
        closeGroup();
        declaration(Declaration, /*Later=*/true);
        CrossedByLabels.push_back(Declaration);
      } else if (!isa<NullStmt>(S)) {
        openGroup(S);
      }
    }
  }
  closeGroup();
  CrossedByLabels.resize(Crossed);
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
  Span Whole = Where.statement(S);
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
  bool Braces =
      Later || !Before.empty() || isa<SwitchStmt, ForStmt, IfStmt, CXXForRangeStmt>(Inner);
  Position At = beforeDirectives(Whole.Begin);
  std::string Directive = At == Whole.Begin ? "" : "\n" + lineDirective(*At.File, At.line());
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
  Span Whole = Where.statement(S);
  if (!Whole.isValid())
    return refuse(S->getBeginLoc(), DiagId::split_macro);
  insert(Whole.Begin, "{ " + First);
  sequence({S});
  insert({Whole.Begin.File, Whole.End}, " }");
}

/// Calls made by a statement that a macro expands to: only where its condition or one of its
/// expressions makes them once, whatever happens.
void BodySplitter::macroStatement(const Stmt *S, bool Later) {
  Span Whole = Where.statement(S);
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
    Span Word = Where.token(S->getReturnLoc()), Whole = Where.statement(S);
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
