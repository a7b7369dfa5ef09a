// Builds the graph from the control flow graphs of the kernels and of all that they call.
#include "GridPaths.h"
#include "../Precompiled.h"
#include "../model/Model.h"
#include "KnownFunctions.h"
#include "MpiReach.h"
#include "Polling.h"
#include "SpecialFunctions.h"
#include "clang/Analysis/CFG.h"

namespace gmpi::translate {

using namespace clang;
using llvm::StringRef;

bool waitsInQueue(const ScopedCall &Call) {
  const MpiFunction *Mpi = findMpiFunction("MPI_" + Call.Function);
  return !Call.Local && Mpi && Mpi->Kind != "terminal";
}

namespace {

/// A method of a class template, in each class.
std::vector<const FunctionDecl *> inClasses(const CXXMethodDecl *Written) {
  std::vector<const FunctionDecl *> Result;
  if (const ClassTemplateDecl *Template = Written->getParent()->getDescribedClassTemplate())
    for (const ClassTemplateSpecializationDecl *Class : Template->specializations())
      for (const CXXMethodDecl *Method : Class->methods())
        if (Method->getInstantiatedFromMemberFunction() == Written && Method->hasBody())
          Result.push_back(Method);
  return Result;
}

/// Functions by which the threads of a warp or a smaller group meet or exchange values.
bool isGroupFunction(const FunctionDecl *Callee, Effect What) {
  StringRef Name = Callee->getIdentifier() ? Callee->getName() : "";
  if (isInCooperativeGroups(Callee))
    return (What == Effect::Varies || What == Effect::Nothing) &&
           !isa<CXXConstructorDecl, CXXConversionDecl>(Callee) &&
           !llvm::is_contained({"thread_rank", "thread_index", "size", "num_threads", "is_valid",
                                "meta_group_rank", "meta_group_size", "tiled_partition",
                                "this_thread", "block_rank", "group_index"},
                               Name);
  return llvm::any_of(std::initializer_list<StringRef>{"__syncwarp", "__shfl", "__ballot", "__any",
                                                       "__all", "__match", "__activemask",
                                                       "__reduce_"},
                      [&](StringRef Prefix) { return Name.starts_with(Prefix); });
}

constexpr size_t MaxNodes = 200000;

class PathBuilder {
public:
  PathBuilder(ASTContext &Context, const ScopeResult &Scopes,
              llvm::function_ref<bool(const ScopedCall &)> Meets)
      : Context(Context), Scopes(Scopes), Meets(Meets) {}

  GridPaths build() {
    for (const ScopedFunction &F : Scopes.Functions)
      if (F.Kernel)
        for (const FunctionDecl *Instance : instancesOf(F.Function))
          Open.push_back({Instance, {&F, 0}});
    std::vector<Instance> Kernels = Open;
    for (size_t I = 0; I < Open.size(); ++I) // grows
      if (auto [Slot, New] = Functions.try_emplace(Open[I]); New)
        addBody(Open[I].first, Open[I].second, Slot->second);
    findThoseThatMatter();
    for (const Instance &Kernel : Kernels)
      Result.Entries.push_back(expand(Kernel).first);
    for (unsigned I = 0; I < Result.Nodes.size(); ++I) {
      for (unsigned To : Result.Nodes[I].Next)
        Result.Nodes[To].Before.push_back(I);
      if (const PathNode &Node = Result.Nodes[I]; Node.What == PathNode::Nothing && Node.In)
        Result.Ends.push_back(I);
    }
    findWaits();
    return std::move(Result);
  }

private:
  /// Which version of which function's text: a lambda has that of the function it stands in.
  struct Version {
    const ScopedFunction *Of = nullptr;
    unsigned Index = 0;
    bool operator<(const Version &Other) const {
      return std::tie(Of, Index) < std::tie(Other.Of, Other.Index);
    }
    const Specialisation *calls() const { return Of ? &Of->Specialisations[Index] : nullptr; }
  };
  using Instance = std::pair<const FunctionDecl *, Version>;

  /// One function's own nodes; the first is its begin, the second its end.
  struct Function {
    std::vector<PathNode> Nodes = std::vector<PathNode>(2);
    std::map<unsigned, Instance> Calls; ///< by node
    bool Matters = false;
  };

  unsigned node() {
    Own->Nodes.emplace_back();
    return unsigned(Own->Nodes.size()) - 1;
  }
  void link(unsigned From, unsigned To) { Own->Nodes[From].Next.push_back(To); }

  /// Those with anything in them but what one thread does for itself.
  void findThoseThatMatter() {
    for (bool Changed = true; Changed;) {
      Changed = false;
      for (auto &[Key, F] : Functions) {
        bool Matters =
            llvm::any_of(F.Nodes,
                         [](const PathNode &Node) { return Node.What != PathNode::Nothing; }) ||
            llvm::any_of(F.Calls,
                         [&](const auto &Call) { return Functions.at(Call.second).Matters; });
        Changed |= Matters != F.Matters;
        F.Matters = Matters;
      }
    }
  }

  /// A copy of a function's nodes, with those of what it calls: each call has its own, so that it
  /// comes back where it was made. Begin and end.
  std::pair<unsigned, unsigned> expand(const Instance &Of) {
    const Function &F = Functions.at(Of);
    auto Base = unsigned(Result.Nodes.size());
    bool TooLarge = Base + F.Nodes.size() > MaxNodes || llvm::is_contained(Stack, Of.first);
    if (TooLarge) {
      Result.Nodes.emplace_back();
      Result.Nodes.back().What = PathNode::Wait;
      Result.Nodes.back().Text = "more code than is looked at";
      Result.Nodes.back().At = Of.first->getLocation();
      return {Base, Base};
    }
    Stack.push_back(Of.first);
    Result.Nodes.insert(Result.Nodes.end(), F.Nodes.begin(), F.Nodes.end());
    for (unsigned I = 0; I < F.Nodes.size(); ++I)
      for (unsigned &To : Result.Nodes[Base + I].Next)
        To += Base;
    for (const auto &[At, Callee] : F.Calls)
      if (Functions.at(Callee).Matters) {
        auto [Begin, End] = expand(Callee);
        Result.Nodes[End].Next = std::move(Result.Nodes[Base + At].Next);
        Result.Nodes[Base + At].Next = {Begin};
      }
    Stack.pop_back();
    return {Base, Base + 1};
  }

  void findWaits() {
    for (unsigned I = 0; I < Result.Nodes.size(); ++I)
      if (Result.Nodes[I].What == PathNode::Poll && returnsTo(I)) {
        Result.Nodes[I].What = PathNode::Wait;
        Result.Nodes[I].Text = "a loop with " + Result.Nodes[I].Text;
      }
  }

  void addBody(const FunctionDecl *Written, Version Of, Function &Into) {
    Own = &Into;
    CFG::BuildOptions Options;
    Options.setAllAlwaysAdd();
    Options.AddInitializers = true;
    Options.AddImplicitDtors = true;
    auto Graph = CFG::buildCFG(Written, Written->getBody(), &Context, Options);
    if (!Graph) {
      Last = 0;
      step(PathNode::Wait, "code whose paths are not known", Written->getLocation());
      return link(Last, 1);
    }
    std::map<unsigned, unsigned> Begins;
    for (const CFGBlock *Block : *Graph)
      Begins[Block->getBlockID()] = node();
    link(0, Begins.at(Graph->getEntry().getBlockID()));
    link(Begins.at(Graph->getExit().getBlockID()), 1);
    Inside = Written;
    Polls = findPolling(Written);
    Reads.clear();
    findReads(Written->getBody());
    Current = Of;
    for (const CFGBlock *Block : *Graph) {
      Last = Begins.at(Block->getBlockID());
      for (const CFGElement &Element : *Block)
        add(Element);
      for (const CFGBlock *To : Block->succs())
        if (To)
          link(Last, Begins.at(To->getBlockID()));
    }
  }

  void findReads(const Stmt *S) {
    if (!S)
      return;
    if (const auto *Cast = dyn_cast<ImplicitCastExpr>(S);
        Cast && Cast->getCastKind() == CK_LValueToRValue) {
      const Expr *E = Cast->getSubExpr()->IgnoreParens();
      for (;;) { // `tile[i].x`: of tile
        if (const auto *Member = dyn_cast<MemberExpr>(E); Member && !Member->isArrow())
          E = Member->getBase()->IgnoreParens();
        else if (const auto *Element = dyn_cast<ArraySubscriptExpr>(E))
          E = Element->getBase()->IgnoreParens();
        else if (const auto *Decay = dyn_cast<ImplicitCastExpr>(E);
                 Decay && Decay->getCastKind() == CK_ArrayToPointerDecay)
          E = Decay->getSubExpr()->IgnoreParens();
        else
          break;
      }
      Reads.insert(E);
    }
    for (const Stmt *Child : S->children())
      findReads(Child);
  }

  /// Without a meeting of the grid on the way.
  bool returnsTo(unsigned Start) const {
    return Result.reach(Result.Nodes[Start].Next, &PathNode::Next).count(Start) != 0;
  }

  void step(PathNode::Kind What, std::string Text, SourceLocation At) {
    unsigned New = node();
    link(Last, New);
    Last = New;
    Own->Nodes[New].What = What;
    Own->Nodes[New].Text = std::move(Text);
    Own->Nodes[New].At = Context.getSourceManager().getFileLoc(At);
  }

  void add(const CFGElement &Element) {
    if (auto Destructor = Element.getAs<CFGImplicitDtor>()) {
      if (const CXXDestructorDecl *D = Destructor->getDestructorDecl(Context);
          D && D->isUserProvided())
        call(D, D->getLocation(), {});
      return;
    }
    auto Statement = Element.getAs<CFGStmt>();
    if (!Statement)
      return;
    const Stmt *S = Statement->getStmt();
    if (auto Found = Polls.find(S); Found != Polls.end())
      step(PathNode::Poll, Found->second.Text, Found->second.At);
    if (const auto *E = dyn_cast<CallExpr>(S))
      addCall(E);
    else if (const auto *E = dyn_cast<CXXConstructExpr>(S); E && !E->getConstructor()->isTrivial())
      call(E->getConstructor(), E->getBeginLoc(), {});
    else if (isa<ReturnStmt>(S) && Inside->hasAttr<CUDAGlobalAttr>()) {
      step(PathNode::Nothing, "", S->getBeginLoc());
      Own->Nodes[Last].In = Inside;
    } else if (isa<AsmStmt>(S))
      step(PathNode::Wait, "inline assembly", S->getBeginLoc());
    else if (const auto *E = dyn_cast<DeclRefExpr>(S)) {
      if (E->getDecl()->hasAttr<CUDASharedAttr>()) {
        step(PathNode::Group, "`" + E->getDecl()->getNameAsString() + "` in __shared__ memory",
             E->getLocation());
        Own->Nodes[Last].MayWrite = !Reads.count(E);
      }
    } else if (isVolatileAccess(S))
      step(PathNode::Group, "a volatile access", S->getBeginLoc());
  }

  void addCall(const CallExpr *E) {
    const FunctionDecl *Callee = E->getDirectCallee();
    if (!Callee || isVirtualCall(E))
      return step(PathNode::Wait, "a call of a function that is not known", E->getBeginLoc());
    if (mpiFunctionOf(Callee))
      return addMpi(E);
    std::string Name = "'" + Callee->getNameAsString() + "'";
    Effect What = classify(E).What;
    if (isGroupFunction(Callee, What) || What == Effect::BlockMeets) {
      step(PathNode::Group, Name, E->getExprLoc());
      Own->Nodes[Last].Barrier = What == Effect::BlockMeets;
      return;
    }
    if (What == Effect::GridMeets)
      return step(PathNode::Meeting, "", E->getExprLoc());
    if (What == Effect::Unknown)
      call(Callee, E->getExprLoc(), versionOf(E, Callee));
  }

  Version versionOf(const CallExpr *E, const FunctionDecl *Callee) const {
    if (isLambda(Callee))
      return Current;
    const ScopedFunction *Of = Scopes.find(Callee);
    if (!Of)
      return {};
    if (const Specialisation *S = Current.calls())
      for (const CalleeUse &Use : S->Callees)
        if (Use.Loc == nameLocation(E, Context.getSourceManager()))
          return {Of, Use.Specialisation};
    return {Of, 0};
  }

  void addMpi(const CallExpr *E) {
    SourceLocation Loc = nameLocation(E, Context.getSourceManager());
    const ScopedCall *Found = nullptr;
    auto Look = [&](const Specialisation &S) {
      for (const ScopedCall &Call : S.Calls)
        if (!Found && Call.Loc == Loc)
          Found = &Call;
    };
    if (const Specialisation *S = Current.calls())
      Look(*S);
    for (const ScopedFunction &F : Scopes.Functions) // a lambda that was handed on
      for (const Specialisation &S : F.Specialisations)
        Look(S);
    if (Found && !waitsInQueue(*Found))
      return;
    if (Found && Meets(*Found))
      return step(PathNode::Meeting, "", Loc);
    step(PathNode::Call, "", Loc);
    PathNode &New = Own->Nodes[Last];
    New.Key = {Current.Of ? Current.Of->Function : nullptr, Current.Index, Loc};
    New.Expr = E;
    New.In = Inside;
  }

  void call(const FunctionDecl *Callee, SourceLocation At, Version Of) {
    if (isInCooperativeGroups(Callee) || Callee->isTrivial() || Callee->isDefaulted())
      return;
    const FunctionDecl *Definition = definitionOf(Callee);
    if (!Definition || Definition->isDependentContext())
      return step(PathNode::Wait,
                  "a call of '" + Callee->getNameAsString() + "', whose body is not known", At);
    step(PathNode::Nothing, "", At);
    Own->Calls[Last] = {Definition, Of};
    Open.push_back({Definition, Of});
  }

  ASTContext &Context;
  const ScopeResult &Scopes;
  llvm::function_ref<bool(const ScopedCall &)> Meets;
  GridPaths Result;
  std::map<Instance, Function> Functions;
  std::vector<Instance> Open;
  std::vector<const FunctionDecl *> Stack; ///< being expanded
  Function *Own = nullptr;                 ///< being built
  const FunctionDecl *Inside = nullptr;
  std::map<const Stmt *, Polling> Polls; ///< in it
  std::set<const Expr *> Reads;          ///< in it: variables of which something is loaded, no more
  Version Current;
  unsigned Last = 0;
};

} // namespace

std::set<unsigned> GridPaths::reach(llvm::ArrayRef<unsigned> From,
                                    std::vector<unsigned> PathNode::*Along, bool Barriers) const {
  std::set<unsigned> Reached(From.begin(), From.end());
  std::vector<unsigned> Open(From.begin(), From.end());
  while (!Open.empty()) {
    const PathNode &Node = Nodes[Open.back()];
    Open.pop_back();
    if (Node.What != PathNode::Meeting && !(Barriers && Node.Barrier))
      for (unsigned To : Node.*Along)
        if (Reached.insert(To).second)
          Open.push_back(To);
  }
  return Reached;
}

std::vector<unsigned> GridPaths::begins(unsigned Node, bool Barriers) const {
  std::vector<unsigned> Found;
  for (unsigned I : reach({Node}, &PathNode::Before, Barriers)) {
    if (Nodes[I].What == PathNode::Meeting || (Barriers && Nodes[I].Barrier))
      Found.insert(Found.end(), Nodes[I].Next.begin(), Nodes[I].Next.end());
    else if (llvm::is_contained(Entries, I))
      Found.push_back(I);
  }
  return Found;
}

std::vector<const FunctionDecl *> instancesOf(const FunctionDecl *Written) {
  if (const auto *Method = dyn_cast<CXXMethodDecl>(Written);
      Method && Method->getParent()->isDependentContext())
    return inClasses(Method);
  FunctionTemplateDecl *Template = Written->getDescribedFunctionTemplate();
  if (!Template)
    return {Written};
  std::vector<const FunctionDecl *> Result;
  for (const FunctionDecl *Each : Template->specializations())
    if (const FunctionDecl *Body = nullptr; Each->hasBody(Body) && !Body->isDependentContext())
      Result.push_back(Body);
  return Result;
}

GridPaths findGridPaths(ASTContext &Context, const ScopeResult &Scopes,
                        llvm::function_ref<bool(const ScopedCall &)> Meets) {
  return PathBuilder(Context, Scopes, Meets).build();
}

} // namespace gmpi::translate
