// Remarks and the JSON report, from the same list of calls.
#include "Report.h"
#include "../Precompiled.h"
#include "llvm/Support/JSON.h"

namespace gmpi::translate {

namespace {

struct CallReport {
  Position At;
  std::string Function, In, Scope, Why;
};

std::vector<CallReport> callReports(const Lowering &L) {
  std::vector<CallReport> Result;
  Locations Where(L.Code);
  for (const ScopedFunction &F : L.Scopes.Functions)
    for (const Specialisation &S : F.Specialisations)
      for (const ScopedCall &Call : S.Calls)
        Result.push_back({Where.position(Call.Loc), "MPI_" + Call.Function,
                          F.Function->getNameAsString(),
                          Call.Local ? "local" : spelling(Call.Value).str(), Call.Why});
  std::set<Position> Scoped;
  for (const CallReport &Call : Result)
    Scoped.insert(Call.At);
  for (const MpiCall &Call : L.CodeModel.MpiCalls)
    if (Position At = Where.position(Call.NameLoc);
        !Scoped.count(At) && L.staysIfUnreached(Call.Within))
      Result.push_back({At, Call.Function, Call.Within->getNameAsString(), "none",
                        "nothing here instantiates the template it stands in"});
  llvm::stable_sort(Result, [](auto &A, auto &B) { return A.At < B.At; });
  return Result;
}

} // namespace

void printRemarks(const Lowering &L) {
  for (const CallReport &Call : callReports(L)) {
    llvm::errs() << Call.At.File->Path << ":" << Call.At.line() << ": " << Call.Function << ": ";
    if (Call.Scope == "local")
      llvm::errs() << "local, answered on the device";
    else if (Call.Scope == "none")
      llvm::errs() << "left as it is";
    else
      llvm::errs() << Call.Scope << " scope, queue";
    if (!Call.Why.empty())
      llvm::errs() << ": " << Call.Why;
    llvm::errs() << "\n";
  }
}

std::string jsonReport(const Lowering &L) {
  llvm::json::Array Kernels, Calls;
  Locations Where(L.Code);
  for (const ScopedFunction &F : L.Scopes.Functions)
    if (F.Kernel) {
      Position At = Where.position(F.Function->getLocation());
      Kernels.push_back(
          llvm::json::Object{{"name", F.Function->getNameAsString()},
                             {"file", At.File->Path},
                             {"line", At.line()},
                             {"widestScope", F.Widest ? spelling(*F.Widest).str() : "local"},
                             {"lowerings", llvm::json::Array{"queue"}}});
    }
  for (const CallReport &Call : callReports(L))
    Calls.push_back(llvm::json::Object{{"file", Call.At.File->Path},
                                       {"line", Call.At.line()},
                                       {"function", Call.Function},
                                       {"in", Call.In},
                                       {"scope", Call.Scope},
                                       {"why", Call.Why}});
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
