// Walks control flow graphs: of functions with such calls, and of the small functions between them.
#include "FollowedCalls.h"
#include "../Precompiled.h"
#include "../model/Model.h"
#include "GridPaths.h"
#include "KnownFunctions.h"
#include "Memory.h"
#include "MpiReach.h"
#include "SpecialFunctions.h"
#include "clang/Analysis/CFG.h"
#include "clang/Basic/Builtins.h"
#include "clang/Lex/Lexer.h"

namespace gmpi::translate {

using namespace clang;

namespace {

enum class Step { Passes, Arrives, Stops };

/// Whether all paths of a graph arrive, from a place on. A block arrives once all that follow it
/// do: one that goes round never does.
class Arrivals {
public:
  using Look = llvm::function_ref<Step(const CFGElement &)>;

  Arrivals(const CFG &Graph, bool AtExit, Look What) {
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

bool isOwn(const Expr *E) {
  E = E->IgnoreParens();
  if (const auto *Name = dyn_cast<DeclRefExpr>(E))
    return isOwn(Name->getDecl());
  if (const auto *Member = dyn_cast<MemberExpr>(E))
    return !Member->isArrow() && isOwn(Member->getBase());
  if (const auto *Element = dyn_cast<ArraySubscriptExpr>(E)) {
    const auto *Array = dyn_cast<CastExpr>(Element->getBase()->IgnoreParens());
    if (Array && Array->getCastKind() == CK_LValueToRValue) // a pointer
      return isReadOnlyParameter(Array->getSubExpr()->IgnoreParens());
    return Array && Array->getCastKind() == CK_ArrayToPointerDecay && isOwn(Array->getSubExpr());
  }
  if (const auto *Cast = dyn_cast<CastExpr>(E); Cast && Cast->getCastKind() == CK_NoOp)
    return isOwn(Cast->getSubExpr());
  if (const auto *Choice = dyn_cast<ConditionalOperator>(E)) // of two variables
    return isOwn(Choice->getTrueExpr()) && isOwn(Choice->getFalseExpr());
  if (isa<UnaryOperator, BinaryOperator>(E)) { // `++i` and `i = 0` are variables, too
    auto Accessed = accessedBy(E);
    return !Accessed.empty() && isOwn(Accessed.front());
  }
  return isa<MaterializeTemporaryExpr>(E);
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
    if (!llvm::all_of(accessedBy(S), [](const Expr *E) { return isOwn(E); }))
      return false;
    if (const auto *E = dyn_cast<CallExpr>(S))
      return isQuickCall(E);
    if (const auto *E = dyn_cast<CXXConstructExpr>(S))
      return E->getConstructor()->isTrivial() || isQuick(E->getConstructor());
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
    return Callee->isTrivial() || isQuick(Callee);
  }

  /// Looks into constexpr functions, and those by which Clang's headers read threadIdx and the
  /// like.
  bool isQuick(const FunctionDecl *Function) {
    const FunctionDecl *Definition = definitionOf(Function);
    if (!Definition || Definition->isDependentContext() || isLambda(Definition))
      return false;
    bool ReadsIndex =
        Definition->getIdentifier() && Definition->getName().starts_with("__fetch_builtin_");
    if (!Definition->isConstexpr() && !ReadsIndex)
      return false;
    auto [Slot, New] = Known.try_emplace(Definition, false); // what calls itself
    if (!New)
      return Slot->second;
    auto Graph = graphOf(Definition, Context);
    auto Look = [this](const CFGElement &E) { return isQuick(E) ? Step::Passes : Step::Stops; };
    return Slot->second = Graph && Arrivals(*Graph, true, Look).from(Graph->getEntry(), 0, Look);
  }

  ASTContext &Context;
  std::map<const FunctionDecl *, bool> Known;
};

bool mayBeLeft(const ScopedCall &Call) {
  return Call.Value == Scope::Grid &&
         (Call.Function == "Irecv" || Call.Function == "Isend" || Call.Function == "Wait");
}

bool takesWhatIsLeft(const ScopedCall &Call) {
  return mayBeLeft(Call) || (Call.Value == Scope::Grid && Call.Function == "Waitall");
}

/// A place behind a statement where what has been left can be made.
struct Making {
  SourceLocation Behind;
  const Stmt *Next; ///< the statement that comes then
};

/// Where a statement has its text's end, the semicolon included; invalid in a macro.
SourceLocation behind(const Stmt *S, const ASTContext &Context) {
  const Stmt *Last = S;
  for (;;)
    if (const auto *For = dyn_cast<ForStmt>(Last))
      Last = For->getBody();
    else if (const auto *Range = dyn_cast<CXXForRangeStmt>(Last))
      Last = Range->getBody();
    else if (const auto *While = dyn_cast<WhileStmt>(Last))
      Last = While->getBody();
    else if (const auto *If = dyn_cast<IfStmt>(Last))
      Last = If->getElse() ? If->getElse() : If->getThen();
    else
      break;
  const SourceManager &Sources = Context.getSourceManager();
  const LangOptions &Language = Context.getLangOpts();
  if (isa<CompoundStmt, DeclStmt, NullStmt, SwitchStmt>(Last))
    return Last->getEndLoc().isMacroID()
               ? SourceLocation()
               : Lexer::getLocForEndOfToken(Last->getEndLoc(), 0, Sources, Language);
  return Lexer::findLocationAfterToken(Last->getEndLoc(), tok::semi, Sources, Language, false);
}

class FollowedCallFinder {
public:
  explicit FollowedCallFinder(ASTContext &Context) : Context(Context), Code(Context) {}

  void find(const FunctionDecl *Written, Specialisation &S) {
    if (llvm::none_of(S.Calls, mayBeLeft))
      return;
    Calls.clear();
    Followed.clear();
    S.Makings.clear();
    for (const ScopedCall &Call : S.Calls)
      Calls[Call.Loc] = &Call;
    for (const FunctionDecl *Instance : instancesOf(Written))
      if (!lookInto(Instance, S.Makings)) {
        S.Makings.clear();
        return;
      }
    for (ScopedCall &Call : S.Calls)
      if (auto Found = Followed.find(Call.Loc); Found != Followed.end())
        Call.Followed = Found->second;
  }

private:
  bool lookInto(const FunctionDecl *Instance, std::set<SourceLocation> &Makings) {
    if (Instance->isDependentContext())
      return false;
    auto Graph = graphOf(Instance, Context);
    if (!Graph)
      return false;
    Wholes.clear();
    Parents.clear();
    Made.clear();
    HasLabels = false;
    findWholes(Instance->getBody(), nullptr);
    for (const Place &At : callsToLeave(*Graph)) {
      const Stmt *Call = (*At.Block)[At.Element].castAs<CFGStmt>().getStmt();
      bool Here = false;
      bool MayBe = callAt(Call)->Function != "Wait" || isDiscarded(Call);
      if (MayBe && step((*At.Block)[At.Element]) == Step::Arrives) { // it stands alone
        Here = isFollowed(*Graph, At, Call);
        for (const Making &M : Here ? std::vector<Making>() : makingsBehind(Call)) {
          Made.push_back(M.Next);
          if ((Here = isFollowed(*Graph, At, Call))) {
            Makings.insert(M.Behind);
            break;
          }
          Made.pop_back();
        }
      }
      auto [Slot, New] = Followed.try_emplace(callAt(Call)->Loc, Here);
      Slot->second &= Here;
    }
    return true;
  }

  struct Place {
    const CFGBlock *Block;
    size_t Element;
  };

  /// Whether nobody looks at what it returns: what a wait that is left returns is not known yet.
  bool isDiscarded(const Stmt *Call) const {
    const Stmt *S = Call, *In = Parents.lookup(S);
    for (; In && isa<Expr>(In); S = In, In = Parents.lookup(S))
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

  bool isFollowed(const CFG &Graph, const Place &At, const Stmt *Call) {
    // A making comes before a statement, not within: it is no end of a path that begins there.
    BehindMaking.clear();
    for (const Stmt *Next : Made)
      if (!isWithin(Call, Next))
        noteAll(Next);
    auto Look = [this](const CFGElement &E) { return step(E); };
    bool Result = Arrivals(Graph, false, Look).from(*At.Block, At.Element + 1, Look);
    BehindMaking.clear();
    return Result;
  }

  bool isWithin(const Stmt *Part, const Stmt *Whole) const {
    while (Part && Part != Whole)
      Part = Parents.lookup(Part);
    return Part != nullptr;
  }

  /// The last one first: those before it may come to what is made for it.
  std::vector<Place> callsToLeave(const CFG &Graph) const {
    std::vector<Place> Result;
    for (const CFGBlock *Block : Graph)
      for (size_t I = 0; I < Block->size(); ++I)
        if (const ScopedCall *Call = callAt((*Block)[I]); Call && mayBeLeft(*Call))
          Result.push_back({Block, I});
    llvm::sort(Result, [this](const Place &A, const Place &B) {
      return Context.getSourceManager().isBeforeInTranslationUnit(
          callAt((*B.Block)[B.Element])->Loc, callAt((*A.Block)[A.Element])->Loc);
    });
    return Result;
  }

  /// The outermost expressions that calls stand in; and what stands in what.
  void findWholes(const Stmt *S, const Expr *Whole) {
    if (!S || isa<LambdaExpr>(S))
      return;
    if (!Whole)
      Whole = dyn_cast<Expr>(S);
    if (isa<CallExpr>(S))
      Wholes[S] = Whole;
    HasLabels |= isa<LabelStmt, GotoStmt, IndirectGotoStmt>(S);
    if (isa<SwitchCase>(S)) // what it stands in is entered there, too
      for (const Stmt *In = Parents.lookup(S); In && !isa<SwitchStmt>(In); In = Parents.lookup(In))
        HasLabels |= !isa<CompoundStmt, SwitchCase>(In);
    for (const Stmt *Child : S->children()) {
      Parents[Child] = S;
      findWholes(Child, Whole);
    }
  }

  /// Where what a call in loops or conditions leaves can be made, as late as can be first: behind
  /// one of these. All threads come there that have made the call, but those that have left.
  std::vector<Making> makingsBehind(const Stmt *Call) {
    std::vector<Making> Result;
    if (HasLabels)
      return Result;
    for (const Stmt *S = Call; S; S = Parents.lookup(S)) {
      const auto *List = dyn_cast_or_null<CompoundStmt>(Parents.lookup(S));
      if (!List || !isa<ForStmt, CXXForRangeStmt, WhileStmt, DoStmt, IfStmt, SwitchStmt>(S))
        continue;
      const Stmt *Next = nextOf(S, List);
      SourceLocation Behind = behind(S, Context);
      if (Next && !isa<SwitchCase>(Next) && Behind.isValid())
        Result.insert(Result.begin(), {Behind, Next});
    }
    return Result;
  }

  /// What comes behind a statement of this list, and nothing else goes to; null where it is
  /// unclear.
  const Stmt *nextOf(const Stmt *S, const CompoundStmt *List) const {
    const auto *Next = llvm::find(List->body(), S) + 1;
    if (Next != List->body_end())
      return *Next;
    const auto *Loop = dyn_cast_or_null<ForStmt>(Parents.lookup(List));
    return Loop && Loop->getBody() == List && !hasContinue(List) ? Loop->getInc() : nullptr;
  }
  static bool hasContinue(const Stmt *S) {
    if (isa<ContinueStmt>(S))
      return true;
    return !isa<ForStmt, CXXForRangeStmt, WhileStmt, DoStmt, LambdaExpr>(S) &&
           llvm::any_of(S->children(),
                        [](const Stmt *Child) { return Child && hasContinue(Child); });
  }

  void noteAll(const Stmt *S) {
    if (!S)
      return;
    BehindMaking.insert(S);
    for (const Stmt *Child : S->children())
      noteAll(Child);
  }

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
    if (auto Statement = Element.getAs<CFGStmt>();
        Statement && BehindMaking.count(Statement->getStmt()))
      return Step::Arrives;
    if (const ScopedCall *Call = callAt(Element)) {
      const Stmt *E = Element.castAs<CFGStmt>().getStmt();
      auto Whole = Wholes.find(E);
      bool Arrives = takesWhatIsLeft(*Call) && Whole != Wholes.end() && isAlone(Whole->second, E);
      return Arrives ? Step::Arrives : Step::Stops;
    }
    return Code.isQuick(Element) ? Step::Passes : Step::Stops;
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
  std::map<const Stmt *, const Expr *> Wholes;
  llvm::DenseMap<const Stmt *, const Stmt *> Parents;
  std::vector<const Stmt *> Made;      ///< statements before which a making comes
  std::set<const Stmt *> BehindMaking; ///< all of them, while a call's paths are looked at
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
