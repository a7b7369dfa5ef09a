// Finds suspension points in a function as written; which calls are MPI calls of grid scope, the
// scope analysis has said.
#include "SplitFunctions.h"
#include "../Precompiled.h"
#include "../model/Model.h"
#include "KnownFunctions.h"

namespace gmpi::translate {

using namespace clang;

bool suspendsFor(const ScopedCall &Call) {
  const MpiFunction *Mpi = findMpiFunction("MPI_" + Call.Function);
  return Call.Value == Scope::Grid && !Call.Local && Mpi && Mpi->Kind != "terminal";
}

namespace {

/// Calls; in lambdas too, if asked for: a lambda does not suspend.
class CallFinder : public DynamicRecursiveASTVisitor {
public:
  CallFinder(llvm::function_ref<void(const CallExpr *)> Visit, bool Lambdas)
      : Visit(Visit), Lambdas(Lambdas) {}
  bool TraverseLambdaExpr(LambdaExpr *E) override {
    return !Lambdas || DynamicRecursiveASTVisitor::TraverseLambdaExpr(E);
  }
  bool VisitCallExpr(CallExpr *E) override {
    Visit(E);
    return true;
  }

private:
  llvm::function_ref<void(const CallExpr *)> Visit;
  bool Lambdas;
};

/// Which lambda, the outermost, each call stands in.
class LambdaFinder : public DynamicRecursiveASTVisitor {
public:
  explicit LambdaFinder(llvm::function_ref<void(const LambdaExpr *, const CallExpr *)> Visit)
      : Visit(Visit) {}
  bool TraverseLambdaExpr(LambdaExpr *E) override {
    auto InIt = [&](const CallExpr *Call) { Visit(E, Call); };
    return CallFinder(InIt, /*Lambdas=*/true).TraverseStmt(E->getBody());
  }

private:
  llvm::function_ref<void(const LambdaExpr *, const CallExpr *)> Visit;
};

bool isGridBarrier(const CallExpr *Call) {
  return !Call->isTypeDependent() && Call->getDirectCallee() &&
         classify(Call).What == Effect::GridMeets;
}

} // namespace

/// A device function without MPI that meets at the grid's barrier.
const SplitFunction *SplitFunctions::withBarrier(const CallExpr *Call) {
  const FunctionDecl *Callee = Call->isTypeDependent() ? nullptr : Call->getDirectCallee();
  const FunctionDecl *Definition = Callee ? definitionOf(Callee) : nullptr;
  if (!Definition || mpiFunctionOf(Callee) ||
      Locations(Code).inSystemHeader(Definition->getLocation()))
    return nullptr;
  const FunctionDecl *Written = asWritten(Definition);
  return Scopes.find(Written) ? nullptr : of(Written, 0);
}

const SplitFunction *SplitFunctions::of(const FunctionDecl *Written, unsigned Version) {
  const Key Its{Written, Version};
  auto [Slot, New] = Known.try_emplace(Its);
  if (!New && !Slot->second) // it is being made
    Recursive.insert(llvm::find(Making, Its), Making.end());
  if (!New)
    return Slot->second && Slot->second->suspends() ? Slot->second.get() : nullptr;
  Locations Where(Code);
  auto Result = std::make_unique<SplitFunction>();
  Result->Written = Written;
  Result->Scoped = Scopes.find(Written);
  Result->Version = Version;
  Result->Kernel = Written->hasAttr<CUDAGlobalAttr>();
  Making.push_back(Its);
  std::map<Position, SuspensionPoint> Here;
  std::map<Position, SourceLocation> Locs;
  if (Result->Scoped) {
    const Specialisation &S = Result->Scoped->Specialisations[Version];
    for (const ScopedCall &Call : S.Calls)
      if (bool Single = Singles.isCut(Written, Version, Call); Single || suspendsFor(Call)) {
        Position Name = Where.position(Call.Loc);
        SuspensionPoint &Point = Here[Name];
        Locs[Name] = Call.Loc;
        Point.Mpi = findMpiFunction("MPI_" + Call.Function);
        Point.Single = Single;
      }
    for (const CalleeUse &Use : S.Callees)
      if (const SplitFunction *Split = of(asWritten(Use.Callee), Use.Specialisation)) {
        Position Name = Where.position(Use.Loc);
        Here[Name].Callee = Split;
        Locs[Name] = Use.Loc;
      }
  }
  std::set<Position> Taken;
  auto Visit = [&](const CallExpr *Call) {
    Span Name = Where.token(nameLocation(Call->getCallee()->IgnoreParenImpCasts()));
    auto Found = Name.isValid() ? Here.find(Name.Begin) : Here.end();
    SuspensionPoint Point;
    if (Found != Here.end()) {
      Point = Found->second;
      Taken.insert(Found->first);
      Here.erase(Found);
    } else if (Name.isValid() && Taken.count(Name.Begin)) {
      Result->Repeated.push_back(Call->getBeginLoc());
      return;
    } else if (!isGridBarrier(Call) && !(Point.Callee = withBarrier(Call))) {
      return;
    }
    Point.Call = Call;
    Point.Name = Name;
    Result->CallsMpi |= Point.Mpi || (Point.Callee && Point.Callee->CallsMpi);
    Result->Single |= SplitFunction::single(Point);
    Result->Together |= !Point.Single && (!Point.Callee || Point.Callee->Together);
    Result->Points.push_back(Point);
  };
  CallFinder(Visit, /*Lambdas=*/false).TraverseStmt(Written->getBody());
  auto VisitInLambda = [&](const LambdaExpr *Lambda, const CallExpr *Call) {
    SourceLocation Name = nameLocation(Call->getCallee()->IgnoreParenImpCasts());
    if (Here.erase(Where.position(Name)))
      Result->InLambdas.push_back({Lambda->getBeginLoc(), Name});
  };
  LambdaFinder(VisitInLambda).TraverseStmt(Written->getBody());
  for (auto &[Name, Point] : Here)
    Result->Elsewhere.push_back(Locs[Name]);
  Result->CallsMpi |= !Result->InLambdas.empty() || !Result->Elsewhere.empty();
  if (Result->Kernel && !Result->CallsMpi) // barriers alone are no reason to split
    Result->Points.clear();
  llvm::stable_sort(Result->Points, [](auto &A, auto &B) { return A.Name.Begin < B.Name.Begin; });
  unsigned Number = 0;
  for (SuspensionPoint &Point : Result->Points) {
    Point.First = Number + 1;
    Number = Point.Last = Number + (Point.Callee ? Point.Callee->resumePoints() : 1);
  }
  if (Result->suspends()) {
    Result->Instances = instancesOf(Written);
    findOthers(*Result);
  }
  Known[Its] = std::move(Result); // the map may have grown
  Making.pop_back();
  noteRecursion();
  return of(Written, Version);
}

/// Once the first of those that call each other in turn has been made: where one of them suspends,
/// all do.
void SplitFunctions::noteRecursion() {
  auto IsRecursive = [&](const Key &Its) { return Recursive.count(Its) != 0; };
  auto Suspends = [&](const Key &Its) { return Known[Its]->suspends(); };
  if (llvm::any_of(Making, IsRecursive))
    return;
  if (llvm::any_of(Recursive, Suspends))
    for (const Key &Its : Recursive)
      Known[Its]->Recursive = Known[Its]->CallsMpi = true;
  Recursive.clear();
}

/// By the callee as instantiated.
bool SplitFunctions::reachesBarrier(const CallExpr *Call, std::set<const FunctionDecl *> &Seen) {
  if (isGridBarrier(Call))
    return true;
  const FunctionDecl *Callee = Call->isTypeDependent() ? nullptr : Call->getDirectCallee();
  const FunctionDecl *Definition = Callee ? definitionOf(Callee) : nullptr;
  if (!Definition || mpiFunctionOf(Callee) ||
      Locations(Code).inSystemHeader(Definition->getLocation()) || !Seen.insert(Definition).second)
    return false;
  bool Found = false;
  auto Visit = [&](const CallExpr *Inner) { Found |= reachesBarrier(Inner, Seen); };
  CallFinder(Visit, /*Lambdas=*/true).TraverseStmt(Definition->getBody());
  return Found;
}

/// Barriers that only an instantiation shows, or that stand in lambdas.
void SplitFunctions::findOthers(SplitFunction &F) {
  Locations Where(Code);
  std::set<Position> Points;
  for (const SuspensionPoint &Point : F.Points)
    Points.insert(Point.Name.Begin);
  auto Visit = [&](const CallExpr *Call) {
    std::set<const FunctionDecl *> Seen;
    if (!reachesBarrier(Call, Seen))
      return;
    SourceLocation Name = nameLocation(Call->getCallee()->IgnoreParenImpCasts());
    if (!Points.count(Where.position(Name)))
      F.OtherBarriers.push_back(Name);
  };
  for (const FunctionDecl *Instance : F.Instances)
    CallFinder(Visit, /*Lambdas=*/true).TraverseStmt(Instance->getBody());
}

} // namespace gmpi::translate
