// Calls that suspend within expressions: they are made before the statement, in the order of
// evaluation, and their values stand in for them.
//
//   if (n > 0 && MPI_Test(&r, &flag, &s) == 0) ...
//
// becomes
//
//   { bool gmpi_value1 = ...(n > 0); if (gmpi_value1) { <suspend>; gmpi_value1 = <error> == 0; }
//     if (gmpi_value1) ... }
#include "../../Precompiled.h"
#include "../../analyze/KnownFunctions.h"
#include "Body.h"

namespace gmpi::translate {

using namespace clang;
using llvm::StringRef;

// --- text as it will be

/// The replacements that count: of those that lie within each other, the outer; of two for the same
/// place, the later. An outer one's text was made with the inner ones in it.
void BodySplitter::forEffective(const Span *Within,
                                llvm::function_ref<void(const Replacement &)> Visit) const {
  auto Covers = [](const Span &Outer, const Span &Inner) {
    bool Empty = Inner.Begin.Offset == Inner.End;
    return Outer.Begin.File == Inner.Begin.File && Outer.Begin.Offset <= Inner.Begin.Offset &&
           Inner.End <= Outer.End && Outer.Begin.Offset < Outer.End &&
           !(Empty && (Inner.End == Outer.Begin.Offset || Inner.End == Outer.End));
  };
  auto Counts = [&](const Replacement &R, size_t Own) {
    if (Within && !(Within->Begin.File == R.What.Begin.File &&
                    Within->Begin.Offset <= R.What.Begin.Offset && R.What.End <= Within->End))
      return false;
    if (Within && R.What.End == Within->Begin.Offset) // inserted before it
      return false;
    for (size_t I = 0; I < Replaced.size(); ++I)
      if (I != Own && Covers(Replaced[I].What, R.What) &&
          (!Within || Covers(*Within, Replaced[I].What)) &&
          (!Covers(R.What, Replaced[I].What) || I > Own || Own == Replaced.size()))
        return false;
    return true;
  };
  // Insertions at one place are one.
  std::map<Position, std::string> Inserted;
  auto Take = [&](const Replacement &R) {
    if (R.What.Begin.Offset == R.What.End)
      Inserted[R.What.Begin] += R.Text;
    else
      Visit(R);
  };
  for (size_t I = 0; I < Replaced.size(); ++I)
    if (Counts(Replaced[I], I))
      Take(Replaced[I]);
  for (const Replacement &Call : Calls)
    if (Counts(Call, Replaced.size()))
      Take(Call);
  for (auto &[At, Text] : Inserted)
    Visit({{At, At.Offset}, Text});
}

std::string BodySplitter::render(const Span &What, bool WithEnd) const {
  Edits Here;
  std::string End;
  forEffective(&What, [&](const Replacement &R) {
    if (R.What.Begin.Offset == What.End)
      End += R.Text;
    else
      Here.replace(R.What, R.Text);
  });
  return Here.apply(What) + (WithEnd ? End : "");
}

std::string BodySplitter::render(const Expr *E) const {
  Span Text = Where.span(E->getSourceRange());
  return Text.isValid() ? render(Text) : "";
}

// --- taking expressions apart

/// Whether evaluating it once more, when the frame's variables are back, does nothing and reads
/// nothing that may not be read; where the call writes there, it must also be the same place.
bool BodySplitter::harmless(const Stmt *S, bool IsResult) const {
  const auto *E = dyn_cast_or_null<Expr>(S);
  if (!E)
    return !S;
  E = strip(E);
  if (Plan.isPure(E))
    return true;
  if (const auto *Reference = dyn_cast<DeclRefExpr>(E)) {
    const auto *V = dyn_cast<VarDecl>(Reference->getDecl());
    return !V || V->hasLocalStorage() || !IsResult || V->getType()->isArrayType();
  }
  if (isa<CallExpr, LambdaExpr, CXXNewExpr, CXXDeleteExpr, StmtExpr, CXXThrowExpr>(E))
    return false;
  if (const auto *Binary = dyn_cast<BinaryOperator>(E);
      Binary &&
      (Binary->isAssignmentOp() || Binary->getOpcode() == BO_Div || Binary->getOpcode() == BO_Rem))
    return false;
  if (const auto *Unary = dyn_cast<UnaryOperator>(E)) {
    if (Unary->isIncrementDecrementOp())
      return false;
    if (Unary->getOpcode() == UO_AddrOf) { // of an element: only the address is computed
      const Expr *Of = strip(Unary->getSubExpr());
      if (const auto *Element = dyn_cast<ArraySubscriptExpr>(Of))
        return harmless(Element->getLHS(), IsResult) && harmless(Element->getRHS(), IsResult);
      if (const auto *Member = dyn_cast<MemberExpr>(Of))
        return harmless(Member->getBase(), IsResult);
    }
    if (Unary->getOpcode() == UO_Deref && IsResult)
      return false;
  }
  if (const auto *Member = dyn_cast<MemberExpr>(E); Member && Member->isArrow() && IsResult)
    return false;
  if (isa<ArraySubscriptExpr>(E) && IsResult)
    return false;
  if (!isa<CastExpr, UnaryOperator, BinaryOperator, ConditionalOperator, MemberExpr,
           ArraySubscriptExpr, UnaryExprOrTypeTraitExpr, CXXDependentScopeMemberExpr,
           DependentScopeDeclRefExpr, CXXUnresolvedConstructExpr, UnresolvedLookupExpr,
           InitListExpr, CXXThisExpr>(E))
    return false;
  return llvm::all_of(E->children(), [&](const Stmt *Child) { return harmless(Child, IsResult); });
}

/// Operands that C++ evaluates before one with a call in it must not care.
bool BodySplitter::checkOrder(const Expr *E) {
  const auto *Binary = dyn_cast<BinaryOperator>(E);
  bool RightFirst = Binary && Binary->isAssignmentOp();
  bool LeftFirst = isa<InitListExpr, ArraySubscriptExpr, CXXMemberCallExpr>(E) ||
                   (Binary && Binary->isShiftOp());
  if (!RightFirst && !LeftFirst)
    return true;
  std::vector<const Stmt *> Children(E->child_begin(), E->child_end());
  if (RightFirst)
    std::swap(Children.front(), Children.back());
  bool Impure = false;
  for (const Stmt *Child : Children) {
    const auto *Operand = dyn_cast_or_null<Expr>(Child);
    if (!Operand)
      continue;
    if (pointsIn(Operand).any() && Impure)
      return false;
    Impure |= !pointsIn(Operand).any() && !Plan.isPure(Operand) && !isa<MemberExpr>(Operand);
  }
  return true;
}

void BodySplitter::hoist(const Expr *E, Items &Into) {
  if (!E || !pointsIn(E).any())
    return;
  E = strip(E);
  if (auto Point = pointOf(E))
    return hoistCall(cast<CallExpr>(E), *Point, Into);
  bool InMacro = !Where.span(E->getSourceRange()).isValid();
  if (const auto *Binary = dyn_cast<BinaryOperator>(E)) {
    bool Moves = Binary->getOpcode() == BO_Comma ||
                 (Binary->isLogicalOp() && pointsIn(Binary->getRHS()).any());
    if (Moves && InMacro)
      return refuse(E->getBeginLoc(), DiagId::split_macro);
    if (Binary->isLogicalOp() && pointsIn(Binary->getRHS()).any())
      return hoistLogical(Binary, Into);
    if (Binary->getOpcode() == BO_Comma) {
      hoist(Binary->getLHS(), Into);
      Into.push_back({Item::Run, "static_cast<void>(" + render(Binary->getLHS()) + "); "});
      hoist(Binary->getRHS(), Into);
      return replace(Where.span(Binary->getSourceRange()), render(Binary->getRHS()));
    }
  }
  if (const auto *Conditional = dyn_cast<ConditionalOperator>(E);
      Conditional &&
      (pointsIn(Conditional->getTrueExpr()).any() || pointsIn(Conditional->getFalseExpr()).any()))
    return hoistConditional(Conditional, Into);
  if (isa<StmtExpr, LambdaExpr, AbstractConditionalOperator>(E) && !isa<ConditionalOperator>(E))
    return refuse(E->getBeginLoc(), DiagId::split_expression);
  if (!checkOrder(E))
    return refuse(E->getBeginLoc(), DiagId::split_expression);
  for (const Stmt *Child : E->children())
    if (const auto *Operand = dyn_cast_or_null<Expr>(Child))
      hoist(Operand, Into);
}

/// The value of `a && call()`: the call is made where a is true.
void BodySplitter::hoistLogical(const BinaryOperator *E, Items &Into) {
  hoist(E->getLHS(), Into);
  std::string Name = temporary("gmpi_value");
  Item Value{Item::Declare, "static_cast<bool>(" + render(E->getLHS()) + ")"};
  Value.Type = "bool";
  Value.Name = Name;
  Value.Bytes = 1;
  Into.push_back(Value);
  Range R = pointsIn(E->getRHS());
  Item Block{Item::Block, E->getOpcode() == BO_LAnd ? Name : "!" + Name, R.First, R.Last};
  hoist(E->getRHS(), Block.Inner);
  Block.Result = Name + " = static_cast<bool>(" + render(E->getRHS()) + "); ";
  Into.push_back(std::move(Block));
  replace(Where.span(E->getSourceRange()), Name);
}

void BodySplitter::hoistConditional(const ConditionalOperator *E, Items &Into) {
  QualType Type = E->getType();
  if (Type->isDependentType() || !Type->isArithmeticType() || E->isGLValue() ||
      !Where.span(E->getSourceRange()).isValid())
    return refuse(E->getBeginLoc(), DiagId::split_expression);
  hoist(E->getCond(), Into);
  std::string Condition = temporary("gmpi_value"), Name = temporary("gmpi_value");
  Item Choice{Item::Declare, "static_cast<bool>(" + render(E->getCond()) + ")"};
  Choice.Type = "bool";
  Choice.Name = Condition;
  Choice.Bytes = 1;
  Into.push_back(Choice);
  Item Value{Item::Declare, "0"};
  Value.Type = Type.getCanonicalType().getUnqualifiedType().getAsString(
      L.Code.context().getPrintingPolicy());
  Value.Name = Name;
  Value.Bytes = 8;
  Into.push_back(Value);
  for (bool Side : {true, false}) {
    const Expr *Branch = Side ? E->getTrueExpr() : E->getFalseExpr();
    Range R = pointsIn(Branch);
    Item Block{Item::Block, Side ? Condition : "!" + Condition, R.First, R.Last};
    hoist(Branch, Block.Inner);
    Block.Result = Name + " = " + render(Branch) + "; ";
    Into.push_back(std::move(Block));
  }
  replace(Where.span(E->getSourceRange()), Name);
}

// --- calls

/// The elements of a braced list that names no type, as T in `T{1, 2}`; nullopt where E is none.
static std::optional<llvm::SmallVector<const Expr *, 4>> elementsOf(const Expr *E) {
  E = E->IgnoreImplicit();
  llvm::SmallVector<const Expr *, 4> Elements;
  if (const auto *List = dyn_cast<CXXStdInitializerListExpr>(E))
    E = List->getSubExpr()->IgnoreImplicit();
  if (const auto *List = dyn_cast<InitListExpr>(E))
    Elements.append(List->inits().begin(), List->inits().end());
  else if (const auto *Made = dyn_cast<CXXConstructExpr>(E);
           Made && Made->isListInitialization() && !isa<CXXTemporaryObjectExpr>(Made))
    Elements.append(Made->arg_begin(), Made->arg_end());
  else
    return std::nullopt;
  llvm::erase_if(Elements, [](const Expr *Element) {
    return isa<ImplicitValueInitExpr, CXXDefaultArgExpr, CXXDefaultInitExpr>(Element);
  });
  return Elements;
}

/// The elements of such a list that cannot be evaluated again get variables of their own; the list
/// is no expression, and has no type without what it is passed to.
void BodySplitter::listElements(llvm::ArrayRef<const Expr *> Elements, Items &Into) {
  for (const Expr *Element : Elements) {
    if (const auto *Designated = dyn_cast<DesignatedInitExpr>(Element))
      Element = Designated->getInit();
    if (auto Inner = elementsOf(Element)) {
      listElements(*Inner, Into);
      continue;
    }
    if (harmless(Element, true))
      continue;
    Span Text = Where.span(Element->getSourceRange());
    if (!Text.isValid())
      return refuse(Element->getBeginLoc(), DiagId::split_macro);
    if (Element->isGLValue()) // a reference may be bound to it, and not to a variable of this call
      return refuse(Element->getBeginLoc(), DiagId::split_braces);
    std::string Name = temporary("gmpi_argument");
    Into.push_back({Item::Declare, madeOnce(Name, render(Text))});
    replace(Text, Name);
  }
}

bool containsLambda(const Stmt *S) {
  return S && (isa<LambdaExpr>(S) || llvm::any_of(S->children(), containsLambda));
}

/// An argument that cannot be evaluated again gets a variable of its own.
void BodySplitter::argument(const CallExpr *E, unsigned I, size_t Point, Items &Into,
                            std::string &Saves) {
  const Expr *Argument = E->getArg(I);
  const SuspensionPoint &Of = F.Points[Point];
  hoist(Argument, Into);
  bool IsResult = true;
  if (Of.Mpi) {
    auto Uses = argumentUses(*Of.Mpi);
    IsResult = I < Uses.size() && Uses[I] != "value" && Uses[I] != "buffer_in";
  }
  const ParmVarDecl *Parameter = Of.Callee && I < Of.Callee->Written->getNumParams()
                                     ? Of.Callee->Written->getParamDecl(I)
                                     : nullptr;
  bool Bound = Parameter && Parameter->getType()->isReferenceType();
  bool Temporary = Bound && !Argument->IgnoreImplicit()->isLValue();
  if (!Temporary && harmless(Argument, IsResult))
    return;
  Span Text = Where.span(Argument->getSourceRange());
  if (!Text.isValid())
    return refuse(Argument->getBeginLoc(), DiagId::split_macro);
  if (auto Elements = elementsOf(Argument)) {
    if (Temporary || Of.Mpi)
      return refuse(Argument->getBeginLoc(), DiagId::split_braces);
    return listElements(*Elements, Into);
  }
  std::string Name = temporary("gmpi_argument"), Value = render(Text), Saved;
  std::string Reference;
  if (Of.Mpi) {
    std::string Slot = std::to_string(Plan.addTemporary(8, F, Of.First, Of.Last)) + ", 8";
    Saved = "gmpi_frame.saved_auto<" + Slot + ">()";
    Saves += "gmpi_frame.save<" + Slot + ">(" + Name + "); ";
  } else { // where it resumes, the function has its parameters from its own frame
    if (Temporary && Argument->isTypeDependent())
      return refuse(Argument->getBeginLoc(), DiagId::split_expression);
    if (Temporary) { // what a reference is bound to must stay where it is
      unsigned Bytes = unsigned(
          L.Code.context().getTypeSizeInChars(Argument->IgnoreImplicit()->getType()).getQuantity());
      if (containsLambda(Argument)) {
        std::string Made = temporary("gmpi_made");
        Into.push_back({Item::Declare, madeOnce(Made, Value)});
        Value = Made;
      }
      std::string Type = "::gmpi::split::Plain<decltype(" + Value + ")>";
      Into.push_back({Item::Declare,
                      "auto &" + Name + " = gmpi_frame.resident<" + Type + ", " +
                          std::to_string(Plan.addTemporary(Bytes, F, 1, F.resumePoints())) + ", " +
                          std::to_string(slotBytes(Bytes)) +
                          ">(); if (!gmpi_re) ::gmpi::split::copy(" + Name + ", " + Value + "); "});
      return replace(Text, Name);
    }
    Reference = Bound ? "&" : "";
    Saved = Bound ? "::gmpi::split::nothing_reference<decltype((" + Value + "))>()"
                  : "::gmpi::split::Nothing()";
  }
  Into.push_back({Item::Declare,
                  "auto " + Reference + Name + " = gmpi_re ? " + Saved + " : (" + Value + "); "});
  replace(Text, Name);
}

std::string BodySplitter::callText(size_t Point, const std::string &Arguments) const {
  const SuspensionPoint &P = F.Points[Point];
  std::string Rest = Arguments.empty() ? "" : ", " + Arguments;
  if (P.Mpi)
    return std::string("::gmpi::split::") + (P.Single ? "single::" : "") + "MPI_" +
           P.Mpi->Name.str() + "<" + std::to_string(P.First) + ">(gmpi_frame, gmpi_re, " +
           L.site(P.Name.Begin) + Rest + ")";
  return "::gmpi::split::grid_sync<" + std::to_string(P.First) + ">(gmpi_frame, gmpi_re)";
}

void BodySplitter::hoistCall(const CallExpr *E, size_t Point, Items &Into, bool ValueUsed) {
  const SuspensionPoint &P = F.Points[Point];
  Span Whole = Where.span(E->getSourceRange());
  if (!Whole.isValid())
    return refuse(E->getBeginLoc(), DiagId::split_macro);
  std::string Saves, Arguments, Written = onOneLine(render(Whole)).value_or("");
  if (P.Mpi || P.Callee) {
    unsigned Count = 0;
    for (; Count < E->getNumArgs() && !isa<CXXDefaultArgExpr>(E->getArg(Count)); ++Count)
      argument(E, Count, Point, Into, Saves);
    if (Count != 0) {
      Span First = Where.span(E->getArg(0)->getSourceRange());
      Span Last = Where.span(E->getArg(Count - 1)->getSourceRange());
      if (!First.isValid() || !Last.isValid())
        return refuse(E->getBeginLoc(), DiagId::split_macro);
      Arguments = render(Span{First.Begin, Last.End});
    }
  }
  if (llvm::any_of(E->arguments(), containsLambda))
    Written = onOneLine(render(Whole)).value_or("");
  Item Suspend{Item::Suspend, callText(Point, Arguments), P.First, P.Last, Point, Saves};
  if (P.Callee) {
    bool Void = P.Callee->Written->getReturnType()->isVoidType();
    Item Value{Item::Declare, ""}; // declared before the call that fills it
    Value.Name = Void ? "" : temporary("gmpi_value");
    bool Address = P.Callee->Written->getReturnType()->isReferenceType();
    Value.Type = Address ? "::gmpi::split::Referent<decltype(" + Written + ")> *"
                         : "::gmpi::split::Plain<decltype(" + Written + ")>";
    QualType Type = E->getType();
    Value.Bytes = Address ? 8
                  : Type->isDependentType() || Type->isVoidType()
                      ? 0
                      : unsigned(L.Code.context().getTypeSizeInChars(Type).getQuantity());
    std::string Result = Void ? "" : ", " + Value.Name;
    std::string Part =
        frameName(*P.Callee, Where.position(P.Callee->Written->getLocation()).line());
    Suspend.Text = calleeText(P, E) + "(gmpi_frame.callee(" + Part + "_uniform, " + Part +
                   "_block, " + Part + "_thread, " + std::to_string(P.First) + "), gmpi_re" +
                   Result + (Arguments.empty() ? "" : ", " + Arguments) + ")";
    if (!Void)
      Into.push_back(Value);
    Into.push_back(Suspend);
    return replace(Whole, Void ? "void()" : Address ? "(*" + Value.Name + ")" : Value.Name);
  }
  Into.push_back(Suspend);
  if (!P.Mpi || !ValueUsed)
    return replace(Whole, "void()");
  Item Value{Item::Declare, "gmpi_frame.error()"};
  Value.Type = "int";
  Value.Bytes = 4;
  Value.Name = temporary("gmpi_value");
  Into.push_back(Value);
  replace(Whole, Value.Name);
}

/// The name of a device function's split version, with its template arguments.
std::string BodySplitter::calleeText(const SuspensionPoint &P, const CallExpr *E) {
  std::string Resume = "::gmpi::within(gmpi_resume, " + std::to_string(P.First) + ", " +
                       std::to_string(P.Last) + ")";
  const Expr *Callee = E->getCallee()->IgnoreParenImpCasts();
  Span All = Where.span(Callee->getSourceRange());
  if (!All.isValid()) {
    refuse(E->getBeginLoc(), DiagId::split_macro);
    return "";
  }
  std::string Qualifier = Span{All.Begin, P.Name.Begin.Offset}.text().str();
  std::string Rest = Span{{P.Name.Begin.File, P.Name.End}, All.End}.text().str();
  size_t Open = Rest.find('<');
  std::string Given = Open == std::string::npos ? ">" : ", " + Rest.substr(Open + 1);
  // What a name that depends on a template's arguments stands for has to be said, and may have
  // been.
  const auto *Member = dyn_cast<CXXDependentScopeMemberExpr>(Callee);
  const auto *Reference = dyn_cast<DependentScopeDeclRefExpr>(Callee);
  if ((Member && !Member->hasTemplateKeyword()) || (Reference && !Reference->hasTemplateKeyword()))
    Qualifier += "template ";
  // Template arguments in order: where to resume, the user's; the result's type is deduced.
  return Qualifier + splitName(*P.Callee) + "<" + Resume + Given;
}

// --- the text before a statement

std::string BodySplitter::suspension(const Item &From, const std::vector<const Item *> &Before) {
  std::string Saves = saves(From.Point) + From.Saves;
  for (const Item *Value : Before)
    Saves += "gmpi_frame.save<" + slotOf(*Value) + ">(" + Value->Name + "); ";
  return restoresShared(From.Point) + "if (" + From.Text + ") { " + Saves +
         (F.Kernel ? "return; }" : "return true; }");
}

std::string BodySplitter::slotOf(const Item &Value) {
  return std::to_string(Value.Offset) + ", " + std::to_string(slotBytes(Value.Bytes));
}

/// Text of what is made before a statement. `PointsFollow`: in the statement itself.
std::string BodySplitter::emit(Items &From, bool PointsFollow, std::vector<const Item *> Before) {
  std::string Text;
  auto PointsIn = [](const Item &I) {
    return I.What == Item::Suspend || (I.What == Item::Block && I.First != 0);
  };
  for (size_t I = 0; I < From.size(); ++I) {
    Item &Each = From[I];
    bool Later = PointsFollow;
    for (size_t J = I + 1; J < From.size(); ++J)
      Later |= PointsIn(From[J]);
    std::string Guard = Later ? guard({Each.First, Each.Last}) : "";
    switch (Each.What) {
    case Item::Run:
      Text += (Later ? "if (!gmpi_re) { " : "") + Each.Text + (Later ? "} " : "");
      break;
    case Item::Declare: {
      if (Each.Name.empty()) { // complete
        Text += Each.Text;
        break;
      }
      bool Filled = Each.Text.empty(); // by the call that follows
      bool Kept = false;
      for (size_t J = I + 1; J < From.size(); ++J)
        Kept |= PointsIn(From[J]) && !(Filled && J == I + 1);
      if (!Kept) {
        Text += Each.Type + " " + Each.Name + (Filled ? "; " : " = " + Each.Text + "; ");
        break;
      }
      if (Each.Bytes == 0) {
        Good = false;
        const CallExpr *Call = F.Points[From[I + 1].Point].Call; // whose value this is
        Refuse(Where.shown(Call->getBeginLoc()), DiagId::split_expression, {});
        break;
      }
      Each.Offset = Plan.addTemporary(Each.Bytes, F, 1, F.resumePoints());
      std::string Saved = "gmpi_frame.saved<" + Each.Type + ", " + slotOf(Each) + ">()";
      Text += Each.Type + " " + Each.Name +
              (Filled ? "; if (gmpi_re) " + Each.Name + " = " + Saved + "; "
                      : " = gmpi_re ? " + Saved + " : " + Each.Text + "; ");
      Before.push_back(&Each);
      break;
    }
    case Item::Suspend: {
      std::vector<const Item *> Kept = Before;
      if (!Kept.empty() && Kept.back() == (I ? &From[I - 1] : nullptr) && Kept.back()->Text.empty())
        Kept.pop_back(); // this call's own value
      Text += Guard + (Later ? "{ " : "") + suspension(Each, Kept) + (Later ? " } " : " ");
      break;
    }
    case Item::Block: {
      bool Any = Each.First != 0;
      std::string Guarded = !Later ? "" : Any ? guard({Each.First, Each.Last}) : "if (!gmpi_re) ";
      std::string Inner = emit(Each.Inner, false, Before);
      Text += Guarded + "if (" + Each.Text + ") { " + Inner + Each.Result + "} ";
      break;
    }
    }
  }
  return Text;
}

} // namespace gmpi::translate
