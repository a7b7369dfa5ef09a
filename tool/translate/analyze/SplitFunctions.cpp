// Finds suspension points in a function as written; which calls are MPI calls of grid scope, the
// scope analysis has said.
#include "SplitFunctions.h"
#include "../Precompiled.h"
#include "../model/Model.h"
#include "KnownFunctions.h"

namespace gmpi::translate {

using namespace clang;

namespace {

/// Calls in source order, but for those in lambdas: a lambda does not suspend.
class CallFinder : public RecursiveASTVisitor<CallFinder> {
public:
  explicit CallFinder(llvm::function_ref<void(const CallExpr *)> Visit) : Visit(Visit) {}
  bool shouldTraversePostOrder() const { return true; }
  bool TraverseLambdaExpr(LambdaExpr *) { return true; }
  bool VisitCallExpr(CallExpr *E) {
    Visit(E);
    return true;
  }

private:
  llvm::function_ref<void(const CallExpr *)> Visit;
};

bool isGridBarrier(const CallExpr *Call) {
  return !Call->isTypeDependent() && Call->getDirectCallee() &&
         classify(Call).What == Effect::GridMeets;
}

bool suspendsFor(const ScopedCall &Call) {
  const MpiFunction *Mpi = findMpiFunction("MPI_" + Call.Function);
  return Call.Value == Scope::Grid && !Call.Local && Mpi && Mpi->Kind != "terminal";
}

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

} // namespace

const SplitFunction *SplitFunctions::of(const ScopedFunction &Function, unsigned Version) {
  auto [Slot, New] = Known.try_emplace({&Function, Version});
  if (!New)
    return Slot->second && !Slot->second->Points.empty() ? Slot->second.get() : nullptr;
  Locations Where(Code);
  const Specialisation &S = Function.Specialisations[Version];
  std::map<Position, SuspensionPoint> Here;
  for (const ScopedCall &Call : S.Calls)
    if (suspendsFor(Call))
      Here[Where.position(Call.Loc)].Mpi = findMpiFunction("MPI_" + Call.Function);
  for (const CalleeUse &Use : S.Callees)
    if (const ScopedFunction *Callee = Scopes.find(Use.Callee))
      if (const SplitFunction *Split = of(*Callee, Use.Specialisation))
        Here[Where.position(Use.Loc)].Callee = Split;
  auto Result = std::make_unique<SplitFunction>();
  Result->Written = Function.Function;
  Result->Version = Version;
  Result->Kernel = Function.Kernel;
  bool Meets = !Here.empty();
  auto Visit = [&](const CallExpr *Call) {
    Span Name = Where.token(nameLocation(Call->getCallee()->IgnoreParenImpCasts()));
    auto Found = Name.isValid() ? Here.find(Name.Begin) : Here.end();
    bool Barrier = Function.Kernel && isGridBarrier(Call);
    if (Found == Here.end() && !Barrier)
      return;
    SuspensionPoint Point = Found == Here.end() ? SuspensionPoint{} : Found->second;
    Point.Call = Call;
    Point.Name = Name;
    Result->Points.push_back(Point);
  };
  CallFinder(Visit).TraverseStmt(Function.Function->getBody());
  if (!Meets) // barriers alone are no reason to split
    Result->Points.clear();
  llvm::stable_sort(Result->Points, [](auto &A, auto &B) { return A.Name.Begin < B.Name.Begin; });
  unsigned Number = 0;
  for (SuspensionPoint &Point : Result->Points) {
    Point.First = Number + 1;
    Number = Point.Last = Number + (Point.Callee ? Point.Callee->resumePoints() : 1);
  }
  if (!Result->Points.empty())
    Result->Instances = instancesOf(Function.Function);
  Known[{&Function, Version}] = std::move(Result); // the map may have grown meanwhile
  const SplitFunction *Made = Known[{&Function, Version}].get();
  if (Made->Points.empty())
    return nullptr;
  Order.push_back(Made);
  return Made;
}

} // namespace gmpi::translate
