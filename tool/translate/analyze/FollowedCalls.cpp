// Walks control flow graphs: of functions with such calls, and of the small functions between them.
#include "FollowedCalls.h"
#include "../Precompiled.h"
#include "../model/Model.h"
#include "GridPaths.h"
#include "KnownFunctions.h"
#include "Memory.h"
#include "MpiReach.h"
#include "SpecialFunctions.h"
#include "clang/AST/ParentMap.h"
#include "clang/Analysis/CFG.h"
#include "clang/Basic/Builtins.h"
#include "clang/Lex/Lexer.h"
#include "llvm/Support/SaveAndRestore.h"

namespace gmpi::translate {

using namespace clang;

namespace {

enum class Step { Passes, Arrives, Stops };

/// Whether all paths of a graph arrive, from a place on. A block arrives once all that follow it
/// do: one that goes round never does, but in a loop that `MayGoRound`, if all else arrives.
class Arrivals {
public:
  using Look = llvm::function_ref<Step(const CFGElement &)>;

  Arrivals(const CFG &Graph, bool AtExit, Look What,
           llvm::function_ref<bool(const Stmt *)> MayGoRound) {
    std::set<const CFGBlock *> Round; // the last ones of a turn
    for (const CFGBlock *Block : Graph)
      if (const Stmt *Loop = Block->getLoopTarget(); Loop && MayGoRound(Loop))
        Round.insert(Block);
    for (bool Wrong = true; Wrong;) {
      Arriving = Round;
      if (AtExit)
        Arriving.insert(&Graph.getExit());
      for (bool Changed = true; Changed;) {
        Changed = false;
        for (const CFGBlock *Block : Graph)
          if (!Arriving.count(Block) && from(*Block, 0, What)) {
            Arriving.insert(Block);
            Changed = true;
          }
      }
      Wrong = false;
      for (const CFGBlock *Block : Graph)
        if (Round.count(Block) && !from(*Block, 0, What)) {
          Round.erase(Block);
          Wrong = true;
        }
    }
  }

  bool from(const CFGBlock &Block, size_t Element, Look What) const {
    for (; Element < Block.size(); ++Element)
      if (Step Next = What(Block[Element]); Next != Step::Passes)
        return Next == Step::Arrives;
    bool Any = false;
    for (const CFGBlock *To : Block.succs()) { // null: an edge that nobody takes
      if (To && !Arriving.count(To))
        return false;
      Any |= To != nullptr;
    }
    return Any;
  }

private:
  std::set<const CFGBlock *> Arriving;
};

std::unique_ptr<CFG> graphOf(const FunctionDecl *Function, ASTContext &Context) {
  CFG::BuildOptions Options;
  Options.setAllAlwaysAdd();
  Options.AddInitializers = true;
  Options.AddImplicitDtors = true;
  Options.AddTemporaryDtors = true;
  Options.AssumeReachableDefaultInSwitchStatements = true; // by a value that has no enumerator
  return CFG::buildCFG(Function, Function->getBody(), &Context, Options);
}

/// What an expression reads or writes, its operands' own accesses left out.
llvm::SmallVector<const Expr *, 2> accessedBy(const Stmt *S) {
  if (const auto *Cast = dyn_cast<CastExpr>(S); Cast && Cast->getCastKind() == CK_LValueToRValue)
    return {Cast->getSubExpr()};
  if (const auto *E = dyn_cast<BinaryOperator>(S); E && E->isAssignmentOp())
    return {E->getLHS()};
  if (const auto *E = dyn_cast<UnaryOperator>(S); E && E->isIncrementDecrementOp())
    return {E->getSubExpr()};
  if (const auto *E = dyn_cast<CXXConstructExpr>(S);
      E && E->getConstructor()->isCopyOrMoveConstructor())
    return {E->getArg(0)};
  if (const auto *E = dyn_cast<CXXOperatorCallExpr>(S); E && E->isAssignmentOp())
    return {E->getArg(0), E->getArg(1)};
  return {};
}

/// The thread's own variable, or one that nobody changes.
bool isOwn(const ValueDecl *Declaration) {
  const auto *V = dyn_cast<VarDecl>(Declaration);
  if (!V || V->getType()->isReferenceType())
    return false;
  return V->hasLocalStorage() || isReadOnly(V) || builtinVariable(V);
}

/// `const T *__restrict__`
bool isReadOnlyParameter(const Expr *E) {
  const auto *Name = dyn_cast<DeclRefExpr>(E);
  return Name && isa<ParmVarDecl>(Name->getDecl()) && isReadOnly(Name->getDecl());
}

/// `OwnThis`: the object whose member function it stands in is.
bool isOwn(const Expr *E, bool OwnThis = false) {
  E = E->IgnoreParens();
  if (const auto *Name = dyn_cast<DeclRefExpr>(E))
    return isOwn(Name->getDecl());
  if (const auto *Member = dyn_cast<MemberExpr>(E))
    return Member->isArrow() ? OwnThis && isa<CXXThisExpr>(Member->getBase()->IgnoreParenImpCasts())
                             : isOwn(Member->getBase(), OwnThis);
  if (const auto *Element = dyn_cast<ArraySubscriptExpr>(E)) {
    const auto *Array = dyn_cast<CastExpr>(Element->getBase()->IgnoreParens());
    if (Array && Array->getCastKind() == CK_LValueToRValue) // a pointer
      return isReadOnlyParameter(Array->getSubExpr()->IgnoreParens());
    return Array && Array->getCastKind() == CK_ArrayToPointerDecay &&
           isOwn(Array->getSubExpr(), OwnThis);
  }
  if (const auto *Cast = dyn_cast<CastExpr>(E); Cast && Cast->getCastKind() == CK_NoOp)
    return isOwn(Cast->getSubExpr(), OwnThis);
  if (const auto *Choice = dyn_cast<ConditionalOperator>(E)) // of two variables
    return isOwn(Choice->getTrueExpr(), OwnThis) && isOwn(Choice->getFalseExpr(), OwnThis);
  if (isa<UnaryOperator, BinaryOperator>(E)) { // `++i` and `i = 0` are variables, too
    auto Accessed = accessedBy(E);
    return !Accessed.empty() && isOwn(Accessed.front(), OwnThis);
  }
  return isa<MaterializeTemporaryExpr>(E);
}

/// The address of one of the thread's own variables, or of a part of it.
bool isAddressOfOwn(const Expr *E) {
  E = E->IgnoreParenCasts();
  if (const auto *Operator = dyn_cast<UnaryOperator>(E))
    return Operator->getOpcode() == UO_AddrOf && isOwn(Operator->getSubExpr());
  return E->getType()->isArrayType() && isOwn(E);
}

/// What ends soon, whatever other threads do, and touches no memory that they may touch: nobody can
/// tell then whether the grid met at the call.
class QuickCode {
public:
  explicit QuickCode(ASTContext &Context) : Context(Context) {}

  bool isQuick(const CFGElement &Element) {
    if (Element.getAs<CFGInitializer>()) // its expressions come before it
      return true;
    auto Statement = Element.getAs<CFGStmt>();
    return Statement && isQuick(Statement->getStmt());
  }

  /// Its operands left out: elements of their own.
  bool isQuick(const Stmt *S) {
    if (const auto *E = dyn_cast<Expr>(S);
        E && (E->getType().isVolatileQualified() || E->getType()->isAtomicType()))
      return false;
    if (!llvm::all_of(accessedBy(S), [this](const Expr *E) { return isOwn(E, OwnThis); }))
      return false;
    if (const auto *E = dyn_cast<CallExpr>(S))
      return isQuickCall(E);
    if (const auto *E = dyn_cast<CXXConstructExpr>(S))
      return E->getConstructor()->isTrivial() || isQuick(E->getConstructor(), true);
    if (const auto *Declaration = dyn_cast<DeclStmt>(S))
      return llvm::all_of(Declaration->decls(), [](const Decl *D) {
        const auto *V = dyn_cast<VarDecl>(D);
        return !V || !(V->isStaticLocal() || isa<DecompositionDecl>(V));
      });
    return isComputation(S);
  }

private:
  static bool isComputation(const Stmt *S) {
    return isa<DeclRefExpr, MemberExpr, ArraySubscriptExpr, CXXThisExpr>(S) ||
           isa<IntegerLiteral, FloatingLiteral, CharacterLiteral, StringLiteral>(S) ||
           isa<CXXBoolLiteralExpr, CXXNullPtrLiteralExpr, GNUNullExpr, ConstantExpr>(S) ||
           isa<ParenExpr, UnaryOperator, BinaryOperator, AbstractConditionalOperator>(S) ||
           (isa<CastExpr>(S) && !isa<CXXDynamicCastExpr>(S)) ||
           isa<InitListExpr, ImplicitValueInitExpr, CXXScalarValueInitExpr>(S) ||
           isa<MaterializeTemporaryExpr, ExprWithCleanups, SubstNonTypeTemplateParmExpr>(S) ||
           isa<UnaryExprOrTypeTraitExpr, TypeTraitExpr, SizeOfPackExpr>(S) ||
           // threadIdx.x
           isa<PseudoObjectExpr, MSPropertyRefExpr, OpaqueValueExpr>(S) ||
           isa<ReturnStmt, NullStmt>(S);
  }

  bool isQuickCall(const CallExpr *E) {
    const FunctionDecl *Callee = E->getDirectCallee();
    if (!Callee || isVirtualCall(E))
      return false;
    const auto &Builtins = Context.BuiltinInfo;
    if (unsigned Id = Callee->getBuiltinID(); Id && !Builtins.isPredefinedLibFunction(Id))
      return Builtins.isConst(Id);
    return Callee->isTrivial() || isQuick(Callee, isOfOwn(E));
  }
  /// A member function's call: whether the object is the thread's own.
  bool isOfOwn(const CallExpr *E) const {
    if (const auto *Call = dyn_cast<CXXMemberCallExpr>(E)) {
      const Expr *Object = Call->getImplicitObjectArgument()->IgnoreParenImpCasts();
      if (Object->getType()->isPointerType()) // ->
        return isa<CXXThisExpr>(Object) && OwnThis;
      return isOwn(Object, OwnThis);
    }
    return isa<CXXOperatorCallExpr>(E) && E->getNumArgs() != 0 && isOwn(E->getArg(0), OwnThis);
  }

  /// Looks into functions.
  bool isQuick(const FunctionDecl *Function, bool OfOwn) {
    const FunctionDecl *Definition = definitionOf(Function);
    if (!Definition || Definition->isDependentContext() || isLambda(Definition))
      return false;
    auto [Slot, New] = Known.try_emplace({Definition, OfOwn}, false); // what calls itself
    if (!New)
      return Slot->second;
    llvm::SaveAndRestore<bool> Inside(OwnThis, OfOwn);
    auto Graph = graphOf(Definition, Context);
    auto Look = [this](const CFGElement &E) { return isQuick(E) ? Step::Passes : Step::Stops; };
    auto Never = [](const Stmt *) { return false; };
    return Slot->second =
               Graph && Arrivals(*Graph, true, Look, Never).from(Graph->getEntry(), 0, Look);
  }

  ASTContext &Context;
  std::map<std::pair<const FunctionDecl *, bool>, bool> Known; ///< by function, and OwnThis in it
  bool OwnThis = false; ///< in the function that is looked into
};

/// Whether it only begins something.
bool begins(const ScopedCall &Call) { return Call.Function == "Irecv" || Call.Function == "Isend"; }
/// Whether its wait is left with it.
bool isBlocking(const ScopedCall &Call) {
  return Call.Function == "Send" || Call.Function == "Recv";
}

bool mayBeLeft(const ScopedCall &Call) {
  return Call.Value == Scope::Grid && (begins(Call) || isBlocking(Call) || Call.Function == "Wait");
}

/// Whether statements can be put behind it: its text stands in a file, not in a macro's body.
bool isInFile(const Stmt *S, const ASTContext &Context) {
  return Lexer::makeFileCharRange(CharSourceRange::getTokenRange(S->getSourceRange()),
                                  Context.getSourceManager(), Context.getLangOpts())
      .isValid();
}

/// Whether control may come to a part of it otherwise than from the statement before that, or from
/// a `switch` around it. `InSwitch`: nothing but braces and cases stand between that and this.
bool hasLabels(const Stmt *S, bool InSwitch = false) {
  if (!S || isa<LambdaExpr>(S))
    return false;
  if (isa<LabelStmt, GotoStmt, IndirectGotoStmt>(S) || (isa<SwitchCase>(S) && !InSwitch))
    return true;
  InSwitch = isa<SwitchStmt>(S) || (InSwitch && isa<CompoundStmt, SwitchCase>(S));
  return llvm::any_of(S->children(), [&](const Stmt *Child) { return hasLabels(Child, InSwitch); });
}

class FollowedCallFinder {
public:
  explicit FollowedCallFinder(ASTContext &Context) : Context(Context), Code(Context) {}

  void find(const FunctionDecl *Written, Specialisation &S) {
    if (llvm::none_of(S.Calls, mayBeLeft))
      return;
    Calls.clear();
    MadeAtOnce.clear();
    for (const ScopedCall &Call : S.Calls)
      Calls[Call.Loc] = &Call;
    size_t Before = 0;
    do {
      Before = MadeAtOnce.size();
      Followed.clear();
      S.Makings.clear();
      for (const FunctionDecl *Instance : instancesOf(Written))
        if (!lookInto(Instance, S)) {
          S.Makings.clear();
          return;
        }
      for (auto [Loc, Is] : Followed)
        if (!Is && isBlocking(*Calls[Loc]))
          MadeAtOnce.insert(Loc);
    } while (MadeAtOnce.size() != Before);
    for (ScopedCall &Call : S.Calls)
      if (auto Found = Followed.find(Call.Loc); Found != Followed.end())
        Call.Followed = Found->second;
  }

private:
  bool lookInto(const FunctionDecl *Instance, Specialisation &S) {
    if (Instance->isDependentContext())
      return false;
    auto Graph = graphOf(Instance, Context);
    if (!Graph)
      return false;
    Parents.emplace(Instance->getBody());
    HasLabels = hasLabels(Instance->getBody());
    Made.clear();
    for (const Place &At : callsToLeave(*Graph)) {
      From = At.Call;
      bool Here = canBeLeft(At) && (isFollowed(*Graph, At) || isMade(*Graph, At, S));
      auto [Slot, New] = Followed.try_emplace(callAt(At.Call)->Loc, Here);
      Slot->second &= Here;
    }
    return true;
  }

  /// What an MPI_Send is left to receives nothing by itself: that may go into the same buffer. What
  /// a wait or an MPI_Recv is left to waits, too: else they are over before. And an MPI_Send or
  /// MPI_Recv that is not left itself takes nothing.
  bool takesWhatIsLeft(const ScopedCall &Call, const ScopedCall &Left) const {
    if (Call.Value != Scope::Grid || MadeAtOnce.count(Call.Loc))
      return false;
    if (Call.Function == "Wait" || Call.Function == "Waitall")
      return true;
    if (Call.Function == "Irecv" || Call.Function == "Recv")
      return begins(Left);
    return (Call.Function == "Isend" || Call.Function == "Send") &&
           (begins(Left) || Left.Function == "Send");
  }

  struct Place {
    const CFGBlock *Block;
    size_t Element;
    const Stmt *Call;
  };

  /// The last one first: those before it may come to what is made for it.
  std::vector<Place> callsToLeave(const CFG &Graph) const {
    std::vector<Place> Result;
    for (const CFGBlock *Block : Graph)
      for (size_t I = 0; I < Block->size(); ++I)
        if (const ScopedCall *Call = callAt((*Block)[I]); Call && mayBeLeft(*Call))
          Result.push_back({Block, I, (*Block)[I].castAs<CFGStmt>().getStmt()});
    llvm::sort(Result, [this](const Place &A, const Place &B) {
      return Context.getSourceManager().isBeforeInTranslationUnit(callAt(B.Call)->Loc,
                                                                  callAt(A.Call)->Loc);
    });
    return Result;
  }

  /// It stands alone. What one that is left and waits returns is not known yet, so nobody looks at
  /// it; and a message from or to a thread's own variable the runtime does not leave, nor an
  /// MPI_Recv from any rank, or with a status.
  bool canBeLeft(const Place &At) {
    const ScopedCall &Call = *callAt(At.Call);
    const auto *E = cast<CallExpr>(At.Call);
    if (!standsAlone(E) || MadeAtOnce.count(Call.Loc))
      return false;
    if (Call.Function == "Wait")
      return isDiscarded(E);
    if (isAddressOfOwn(E->getArg(0)))
      return false;
    return Call.Function != "Recv" ||
           (isDiscarded(E) && !isNegative(E->getArg(3)) && isLiteral(E->getArg(6)));
  }
  /// As MPI_ANY_SOURCE is.
  bool isNegative(const Expr *E) const {
    Expr::EvalResult Value;
    return E->EvaluateAsInt(Value, Context) && Value.Val.getInt().isNegative();
  }
  /// As MPI_STATUS_IGNORE is.
  static bool isLiteral(const Expr *E) {
    return isa<IntegerLiteral, CXXNullPtrLiteralExpr, GNUNullExpr>(E->IgnoreParenCasts());
  }

  bool isFollowed(const CFG &Graph, const Place &At) {
    auto Look = [this](const CFGElement &E) { return step(E); };
    auto HasCalls = [this](const Stmt *Loop) { return hasCalls(Loop); };
    return Arrivals(Graph, false, Look, HasCalls).from(*At.Block, At.Element + 1, Look);
  }

  /// Whether it is followed if what has been left is made behind a loop or condition that the call
  /// stands in: as late as can be. All threads come there that have made the call, but those that
  /// have left. (One MPI_Send or MPI_Recv alone is sooner made than left, and what has been left
  /// then.)
  bool isMade(const CFG &Graph, const Place &At, Specialisation &Into) {
    if (HasLabels || callAt(At.Call)->Function == "Recv")
      return false;
    // With what comes behind each; inner ones first.
    std::vector<std::pair<const Stmt *, const Stmt *>> Around;
    for (const Stmt *S = At.Call; S; S = Parents->getParent(S)) {
      const auto *List = dyn_cast_or_null<CompoundStmt>(Parents->getParent(S));
      if (!List || !(isLoop(S) || (isa<IfStmt, SwitchStmt>(S) && !isSend(At))))
        continue;
      const Stmt *Next = nextOf(S, List);
      if (Next && !isa<SwitchCase>(Next) && isInFile(S, Context))
        Around.push_back({S, Next});
    }
    for (auto [S, Next] : llvm::reverse(Around)) {
      Made.push_back(Next);
      if (isFollowed(Graph, At)) {
        Into.Makings.try_emplace(S->getBeginLoc(), S);
        return true;
      }
      Made.pop_back();
    }
    return false;
  }

  /// Whether nobody looks at an expression's value.
  bool isDiscarded(const Stmt *S) const {
    const Stmt *In = Parents->getParent(S);
    for (; isa_and_nonnull<Expr>(In); S = In, In = Parents->getParent(S))
      if (const auto *Cast = dyn_cast<CastExpr>(In);
          !isa<ParenExpr>(In) && !(Cast && Cast->getCastKind() == CK_ToVoid))
        return false;
    if (const auto *If = dyn_cast_or_null<IfStmt>(In))
      return S == If->getThen() || S == If->getElse();
    if (const auto *For = dyn_cast_or_null<ForStmt>(In))
      return S == For->getInit() || S == For->getInc() || S == For->getBody();
    if (const auto *Range = dyn_cast_or_null<CXXForRangeStmt>(In))
      return S == Range->getBody();
    if (const auto *While = dyn_cast_or_null<WhileStmt>(In))
      return S == While->getBody();
    if (const auto *Do = dyn_cast_or_null<DoStmt>(In))
      return S == Do->getBody();
    return isa_and_nonnull<CompoundStmt>(In);
  }

  bool isWithin(const Stmt *Part, const Stmt *Whole) const {
    while (Part && Part != Whole)
      Part = Parents->getParent(Part);
    return Part != nullptr;
  }

  /// What comes behind a statement of this list, and nothing else goes to; null where it is
  /// unclear.
  const Stmt *nextOf(const Stmt *S, const CompoundStmt *List) const {
    const auto *Next = llvm::find(List->body(), S) + 1;
    if (Next != List->body_end())
      return *Next;
    const auto *Loop = dyn_cast_or_null<ForStmt>(Parents->getParent(List));
    return Loop && Loop->getBody() == List && !hasContinue(List) ? Loop->getInc() : nullptr;
  }
  static bool hasContinue(const Stmt *S) {
    if (isa<ContinueStmt>(S))
      return true;
    return !isLoop(S) && !isa<LambdaExpr>(S) && llvm::any_of(S->children(), [](const Stmt *Child) {
      return Child && hasContinue(Child);
    });
  }

  static bool isLoop(const Stmt *S) { return isa<ForStmt, CXXForRangeStmt, WhileStmt, DoStmt>(S); }
  /// Whether a loop is one for such calls, though a turn may make none: they stand in it, and not
  /// in one within.
  bool hasCalls(const Stmt *Loop) const {
    return llvm::any_of(Loop->children(), [this](const Stmt *Child) {
      if (!Child || isLoop(Child) || isa<LambdaExpr>(Child))
        return false;
      const ScopedCall *Call = callAt(Child);
      return (Call && takesWhatIsLeft(*Call, *callAt(From))) || hasCalls(Child);
    });
  }
  bool isSend(const Place &At) const { return callAt(At.Call)->Function == "Send"; }

  const ScopedCall *callAt(const CFGElement &Element) const {
    auto Statement = Element.getAs<CFGStmt>();
    return Statement ? callAt(Statement->getStmt()) : nullptr;
  }
  const ScopedCall *callAt(const Stmt *S) const {
    const auto *E = dyn_cast<CallExpr>(S);
    if (!E || !mpiFunctionOf(E->getDirectCallee()))
      return nullptr;
    auto Found = Calls.find(nameLocation(E, Context.getSourceManager()));
    return Found == Calls.end() ? nullptr : Found->second;
  }

  Step step(const CFGElement &Element) {
    auto Statement = Element.getAs<CFGStmt>();
    if (Statement && isBehindMaking(Statement->getStmt()))
      return Step::Arrives;
    if (const ScopedCall *Call = callAt(Element))
      return takesWhatIsLeft(*Call, *callAt(From)) && standsAlone(Statement->getStmt())
                 ? Step::Arrives
                 : Step::Stops;
    return Code.isQuick(Element) ? Step::Passes : Step::Stops;
  }

  /// Whether what else a call's statement does is quick.
  bool standsAlone(const Stmt *Call) {
    const Stmt *Whole = Call;
    while (isa_and_nonnull<Expr>(Parents->getParent(Whole)))
      Whole = Parents->getParent(Whole);
    return Parents->getParent(Whole) && isAlone(Whole, Call);
  }

  /// A making comes before a statement, not within: it is no end of a path that begins there.
  bool isBehindMaking(const Stmt *S) const {
    return llvm::any_of(
        Made, [&](const Stmt *Next) { return isWithin(S, Next) && !isWithin(From, Next); });
  }

  /// The graph has one order of what stands beside a call; the compiler may choose another.
  bool isAlone(const Stmt *Part, const Stmt *Call) {
    return !Part || Part == Call ||
           (Code.isQuick(Part) && llvm::all_of(Part->children(), [&](const Stmt *Child) {
              return isAlone(Child, Call);
            }));
  }

  ASTContext &Context;
  QuickCode Code;
  std::map<SourceLocation, const ScopedCall *> Calls;
  std::map<SourceLocation, bool> Followed;
  std::set<SourceLocation> MadeAtOnce; ///< MPI_Sends and MPI_Recvs that are not
  std::optional<ParentMap> Parents;
  std::vector<const Stmt *> Made; ///< statements before which a making comes
  const Stmt *From = nullptr;     ///< the call whose paths are looked at
  bool HasLabels = false;
};

} // namespace

void findFollowedCalls(ASTContext &Context, ScopeResult &Scopes) {
  FollowedCallFinder Finder(Context);
  for (ScopedFunction &F : Scopes.Functions)
    for (Specialisation &S : F.Specialisations)
      Finder.find(F.Function, S);
}

} // namespace gmpi::translate
