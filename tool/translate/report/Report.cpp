// Remarks and the JSON report, from the same list of calls.
#include "Report.h"
#include "../Precompiled.h"
#include "../lower/split/Split.h"
#include "llvm/Support/JSON.h"

namespace gmpi::translate {

namespace {

/// A variable that a suspension point has to do with.
struct Kept {
  std::string Name, How, Why;
  unsigned Bytes = 0; ///< of the frame; of each thread or block where it is not uniform
};

struct CallReport {
  Position At;
  std::string Function, In, Scope, Why;
  bool Queue = true, Split = false; ///< the lowerings that it has
  std::string NotSplit = {};        ///< why not, where others of its scope are
  std::vector<Kept> Variables = {}; ///< split: those in scope that need something
  bool Followed = false;            ///< see ScopedCall
};

std::string why(const FrameVariable &V) {
  if (V.How == Keeping::Recomputed)
    return "";
  return V.Uniform ? V.Why + ", the same way in all threads" : V.Why;
}

std::vector<Kept> keptAt(const SplitVersion &V, size_t Point) {
  std::vector<Kept> Result;
  for (auto &[Place, Variable] : V.Plan.Variables)
    if (Variable.LiveAt[Point] && (Variable.inFrame() || Variable.How == Keeping::Recomputed))
      Result.push_back({Variable.Written->getNameAsString(),
                        Variable.Uniform ? "uniform" : spelling(Variable.How).str(), why(Variable),
                        Variable.inFrame() ? Variable.Bytes : 0});
  return Result;
}

/// What the split lowering adds: to the calls that suspend, and barriers and calls of functions.
void addSplit(const Lowering &L, std::vector<CallReport> &Calls) {
  if (!L.Split)
    return;
  for (auto &[F, V] : L.Split->all()) {
    if (!V.good())
      continue;
    for (size_t I = 0; I < F->Points.size(); ++I) {
      const SuspensionPoint &Point = F->Points[I];
      auto Known = llvm::find_if(Calls, [&](const CallReport &Call) {
        return Call.At == Point.Name.Begin && !Call.Split &&
               Call.Scope == (Point.Single ? "thread" : "grid");
      });
      if (Known == Calls.end()) {
        std::string What = Point.Callee
                               ? "call of '" + Point.Callee->Written->getNameAsString() + "'"
                               : "barrier of the grid";
        bool Alone = Point.Callee && !Point.Callee->Together;
        Calls.push_back({Point.Name.Begin, What, F->Written->getNameAsString(),
                         Alone ? "thread" : "grid", Point.Callee ? "it suspends within" : ""});
        Known = std::prev(Calls.end());
      }
      Known->Split = true;
      Known->Queue = L.Settings.Queue;
      Known->Variables = keptAt(V, I);
    }
  }
}

std::vector<CallReport> callReports(const Lowering &L) {
  std::vector<CallReport> Result;
  Locations Where(L.Code);
  for (const ScopedFunction &F : L.Scopes.Functions)
    for (unsigned I = 0; I < F.Specialisations.size(); ++I)
      for (const ScopedCall &Call : F.Specialisations[I].Calls) {
        Result.push_back({Where.position(Call.Loc), "MPI_" + Call.Function,
                          F.Function->getNameAsString(),
                          Call.Local ? "local" : spelling(Call.Value).str(), Call.Why});
        Result.back().Followed = Call.Followed;
        if (L.Split)
          Result.back().NotSplit = L.Split->singles().whyNot(F.Function, I, Call);
      }
  std::set<Position> Scoped;
  for (const CallReport &Call : Result)
    Scoped.insert(Call.At);
  for (const MpiCall &Call : L.CodeModel.MpiCalls)
    if (Position At = Where.position(Call.NameLoc);
        !Scoped.count(At) && L.staysIfUnreached(Call.Within))
      Result.push_back({At, Call.Function, Call.Within->getNameAsString(), "none",
                        "nothing here instantiates the template it stands in"});
  addSplit(L, Result);
  llvm::stable_sort(Result, [](auto &A, auto &B) { return A.At < B.At; });
  return Result;
}

std::string lowerings(const CallReport &Call) {
  return Call.Queue && Call.Split ? "queue + split" : Call.Split ? "split" : "queue";
}

/// `; live across: s (uniform: it is changed), x (recomputed)`
std::string liveAcross(const CallReport &Call) {
  std::string Text;
  for (const Kept &V : Call.Variables)
    Text += (Text.empty() ? "; live across: " : ", ") + V.Name + " (" + V.How +
            (V.Why.empty() ? "" : ": " + V.Why) + ")";
  return Text.empty() && Call.Split ? "; nothing is live across" : Text;
}

/// Kernels that have no segments though they were asked for.
std::string notSplit(const Lowering &L, const ScopedFunction &F) {
  if (!F.Kernel || !L.Split || L.Split->find(F.Function))
    return "";
  return F.Widest == Scope::Grid ? "it cannot be split"
                                 : "it makes no MPI call at which to split it";
}

} // namespace

void printRemarks(const Lowering &L) {
  Locations Where(L.Code);
  for (const ScopedFunction &F : L.Scopes.Functions)
    if (std::string Reason = notSplit(L, F); !Reason.empty()) {
      Position At = Where.position(F.Function->getLocation());
      llvm::errs() << At.File->Path << ":" << At.line() << ": kernel '"
                   << F.Function->getNameAsString() << "' stays with the queue: " << Reason << "\n";
    }
  for (const CallReport &Call : callReports(L)) {
    llvm::errs() << Call.At.File->Path << ":" << Call.At.line() << ": " << Call.Function << ": ";
    if (Call.Scope == "local")
      llvm::errs() << "local, answered on the device";
    else if (Call.Scope == "none")
      llvm::errs() << "left as it is";
    else
      llvm::errs() << Call.Scope << " scope, " << lowerings(Call);
    if (!Call.Why.empty())
      llvm::errs() << ": " << Call.Why;
    if (!Call.NotSplit.empty())
      llvm::errs() << "; it stays with the queue: " << Call.NotSplit;
    if (Call.Followed && Call.Queue)
      llvm::errs() << "; left to the next call";
    llvm::errs() << liveAcross(Call) << "\n";
  }
}

std::string jsonReport(const Lowering &L) {
  llvm::json::Array Kernels, Calls;
  Locations Where(L.Code);
  for (const ScopedFunction &F : L.Scopes.Functions)
    if (F.Kernel) {
      Position At = Where.position(F.Function->getLocation());
      llvm::json::Object Kernel{{"name", F.Function->getNameAsString()},
                                {"file", At.File->Path},
                                {"line", At.line()},
                                {"widestScope", F.Widest ? spelling(*F.Widest).str() : "local"}};
      const SplitVersion *Split = L.Split ? L.Split->find(F.Function) : nullptr;
      llvm::json::Array Lowerings;
      if (L.Settings.Queue || !Split)
        Lowerings.push_back("queue");
      if (Split) {
        Lowerings.push_back("split");
        Kernel["segments"] = Split->Function->resumePoints() + 1;
        Kernel["frame"] = llvm::json::Object{{"uniform", Split->Total.Uniform},
                                             {"perBlock", Split->Total.Block},
                                             {"perThread", Split->Total.Thread}};
      }
      Kernel["lowerings"] = std::move(Lowerings);
      Kernels.push_back(std::move(Kernel));
    }
  for (const CallReport &Call : callReports(L)) {
    llvm::json::Object One{{"file", Call.At.File->Path}, {"line", Call.At.line()},
                           {"function", Call.Function},  {"in", Call.In},
                           {"scope", Call.Scope},        {"why", Call.Why}};
    if (!Call.NotSplit.empty())
      One["notSplit"] = Call.NotSplit;
    if (Call.Followed && Call.Queue)
      One["leftToNext"] = true;
    if (Call.Split) {
      llvm::json::Array Variables;
      for (const Kept &V : Call.Variables)
        Variables.push_back(llvm::json::Object{
            {"name", V.Name}, {"kept", V.How}, {"why", V.Why}, {"bytes", V.Bytes}});
      One["liveAcross"] = std::move(Variables);
    }
    Calls.push_back(std::move(One));
  }
  llvm::json::Object Report{{"input", L.Settings.Input},
                            {"output", L.Settings.Output},
                            {"device", L.isCpu() ? "cpu" : "cuda"},
                            {"kernels", std::move(Kernels)},
                            {"calls", std::move(Calls)}};
  std::string Text;
  llvm::raw_string_ostream Stream(Text);
  Stream << llvm::formatv("{0:2}", llvm::json::Value(std::move(Report))) << "\n";
  return Text;
}

} // namespace gmpi::translate
