// Starts with all calls that one known thread makes, and gives up those that something speaks
// against, until nothing changes: a call that stays with the queue may keep others there.
#include "SingleCalls.h"
#include "../Precompiled.h"
#include "KnownFunctions.h"
#include "MpiReach.h"
#include "SharedPointers.h"
#include "SpecialFunctions.h"
#include "SplitFunctions.h"

namespace gmpi::translate {

using namespace clang;

namespace {

bool isA(const ScopedCall &Call, llvm::StringRef Kind) {
  const MpiFunction *Mpi = findMpiFunction("MPI_" + Call.Function);
  return Mpi && Mpi->Kind == Kind;
}

} // namespace

SingleCalls::SingleCalls(const Pass &Code, const ScopeResult &Scopes) : Code(Code), Scopes(Scopes) {
  bool Any = false;
  for (const ScopedFunction &F : Scopes.Functions)
    for (unsigned I = 0; I < F.Specialisations.size(); ++I)
      for (const ScopedCall &Call : F.Specialisations[I].Calls) {
        if (!waitsInQueue(Call) || Call.Value == Scope::Grid)
          continue;
        Entry &New = Entries[{F.Function, I, Call.Loc}];
        New.Call = &Call;
        if (Call.Value != Scope::Thread)
          New.Why = "a block makes it, not one thread of the grid";
        else if (Call.Caller.empty())
          New.Why = "it is not always one and the same thread of the grid that makes it";
        else if (!calledWithoutName(F.Function).empty())
          New.Why = "it stands in a lambda or another function that cannot suspend";
        else if (!Call.ReceivesInto.empty())
          New.Why =
              Call.ReceivesInto + " is a local variable, and has its place in one segment only";
        Any |= New.Why.empty();
      }
  if (!Any)
    return;
  Paths = findGridPaths(Code.context(), Scopes, suspendsFor);
  settle();
}

bool SingleCalls::isCut(const FunctionDecl *Written, unsigned Version,
                        const ScopedCall &Call) const {
  auto Found = Entries.find({Written, Version, Call.Loc});
  return Found != Entries.end() && Found->second.Why.empty();
}

bool SingleCalls::any() const {
  return llvm::any_of(Entries, [](const auto &E) { return E.second.Why.empty(); });
}

std::string SingleCalls::whyNot(const FunctionDecl *Written, unsigned Version,
                                const ScopedCall &Call) const {
  auto Found = Entries.find({Written, Version, Call.Loc});
  return Found == Entries.end() ? "" : Found->second.Why;
}

bool SingleCalls::giveUp(const FunctionDecl *Written, unsigned Version, const std::string &Why) {
  bool Any = false;
  for (auto &[Key, E] : Entries)
    if (Key.Written == Written && Key.Version == Version && E.Why.empty()) {
      E.Why = Why;
      Any = true;
    }
  if (Any)
    settle();
  return Any;
}

SingleCalls::Entry *SingleCalls::find(const PathNode &Node) {
  auto Found = Entries.find(Node.Key);
  return Found == Entries.end() ? nullptr : &Found->second;
}

void SingleCalls::settle() {
  for (bool Changed = true; Changed;) {
    Changed = false;
    bool Requests = keepsRequestsInQueue();
    for (unsigned I = 0; I < Paths.Nodes.size(); ++I) {
      const PathNode &Node = Paths.Nodes[I];
      Entry *E = Node.What == PathNode::Call ? find(Node) : nullptr;
      if (!E || !E->Why.empty())
        continue;
      E->Why = judgeArguments(Node);
      if (E->Why.empty() && Requests && isA(*E->Call, "nonblocking"))
        E->Why = "its request may be completed by a call that stays with the queue";
      if (E->Why.empty())
        E->Why = judge(I);
      Changed |= !E->Why.empty();
    }
  }
}

/// The queue does not know the requests of the split driver.
bool SingleCalls::keepsRequestsInQueue() {
  return llvm::any_of(Entries, [](const auto &E) {
    return !E.second.Why.empty() && isA(*E.second.Call, "completion");
  });
}

std::string SingleCalls::judgeArguments(const PathNode &Node) const {
  if (isLambda(Node.In))
    return "it stands in a lambda or another function that cannot suspend";
  SharedPointers IntoShared(Code);
  IntoShared.add(Node.In);
  for (const Expr *Argument : Node.Expr->arguments())
    if (IntoShared.mayPoint(Argument))
      return "its arguments lead to __shared__ memory, which is another one in each segment";
  return "";
}

std::string SingleCalls::judge(unsigned Node) const {
  std::string Why = whatFollows(Node);
  if (Why.empty())
    Why = whatIsBeside(Node);
  return Why.empty() ? whatIsLeftShared(Node) : Why;
}

/// " (line 12)"
std::string SingleCalls::at(const PathNode &Node) const {
  return " (line " + std::to_string(Code.sources().getPresumedLineNumber(Node.At)) + ")";
}

/// Up to the next meeting, the thread must have nothing to do with others.
std::string SingleCalls::whatFollows(unsigned Call) const {
  for (unsigned I : Paths.reach(Paths.Nodes[Call].Next, &PathNode::Next)) {
    const PathNode &Node = Paths.Nodes[I];
    if (Node.What == PathNode::Group || Node.What == PathNode::Wait)
      return "before the grid meets again there is " + Node.Text + at(Node);
  }
  return "";
}

/// Between the meetings around it, nobody may wait for the thread.
std::string SingleCalls::whatIsBeside(unsigned Call) const {
  const std::string &Caller = Entries.at(Paths.Nodes[Call].Key).Call->Caller;
  for (unsigned I : Paths.reach(Paths.begins(Call), &PathNode::Next)) {
    const PathNode &Node = Paths.Nodes[I];
    if (Node.What == PathNode::Wait)
      return "other threads may wait for its thread: there is " + Node.Text + at(Node);
    if (Node.What != PathNode::Call)
      continue;
    auto Other = Entries.find(Node.Key);
    std::string Line = " (line " +
                       std::to_string(Code.sources().getPresumedLineNumber(
                           Code.sources().getFileLoc(Node.Expr->getExprLoc()))) +
                       ")";
    if (Other == Entries.end() || !Other->second.Why.empty())
      return "others may wait for it in MPI_" +
             (Other == Entries.end() ? "..." : Other->second.Call->Function) + Line +
             ", which stays with the queue";
    if (Other->second.Call->Caller != Caller)
      return "another thread may be in MPI_" + Other->second.Call->Function + Line +
             " at the same time";
  }
  return "";
}

/// Where no other thread of its block is left at the next meeting, the block's memory is what it
/// was at the call: none of them may write there afterwards, and return. (Only by a `return` do
/// threads stay away from where the grid meets.)
std::string SingleCalls::whatIsLeftShared(unsigned Call) const {
  auto IsMeeting = [&](unsigned I) { return Paths.Nodes[I].What == PathNode::Meeting; };
  if (llvm::none_of(Paths.reach(Paths.Nodes[Call].Next, &PathNode::Next), IsMeeting))
    return "";
  for (unsigned I : Paths.reach(Paths.begins(Call, /*Barriers=*/true), &PathNode::Next)) {
    if (!Paths.Nodes[I].MayWrite)
      continue;
    for (unsigned After : Paths.reach(Paths.Nodes[I].Next, &PathNode::Next))
      if (llvm::is_contained(Paths.Ends, After))
        return "other threads of its block may write to " + Paths.Nodes[I].Text +
               at(Paths.Nodes[I]) + " meanwhile, and end before the grid meets again";
  }
  return "";
}

} // namespace gmpi::translate
