#include "Specialise.h"
#include "../model/Model.h"
#include "SpecialFunctions.h"
#include "clang/AST/DynamicRecursiveASTVisitor.h"
#include "clang/Basic/SourceManager.h"

namespace gmpi::translate {

using clang::FunctionDecl;
using clang::SourceLocation;

namespace {

std::string quoted(const FunctionDecl *Function) { return "'" + Function->getNameAsString() + "'"; }

/// With template arguments: `halo<double>`.
std::string instance(const FunctionDecl *Function) {
  std::string Text;
  llvm::raw_string_ostream Out(Text);
  Function->getNameForDiagnostic(Out, Function->getASTContext().getPrintingPolicy(), true);
  return "'" + Text + "'";
}

} // namespace

bool Specialiser::Entry::agreesWith(const Entry &Other) const {
  if (Callee.has_value() != Other.Callee.has_value())
    return false;
  if (!Callee)
    return Call.Value == Other.Call.Value;
  // Overloads that different instantiations choose agree if neither is renamed.
  return (Callee->Callee == Other.Callee->Callee &&
          Callee->Specialisation == Other.Callee->Specialisation) ||
         (Callee->Specialisation == 0 && Other.Callee->Specialisation == 0);
}

/// Another context in which the same stands there.
void Specialiser::Entry::add(const Entry &Other) {
  if (Call.Caller != Other.Call.Caller)
    Call.Caller.clear();
  if (Call.ReceivesInto.empty())
    Call.ReceivesInto = Other.Call.ReceivesInto;
}

void Specialiser::report(const ScopeError &Error) {
  Failed = true;
  for (const ScopeError::Line &Line : Error.Lines)
    Sink.report(Context.getSourceManager().getFileLoc(Line.Loc), Line.Id, Line.Arguments);
}

std::vector<std::pair<const void *, Run::Callee>> Specialiser::calleesInOrder(const Run &Of) const {
  std::vector<std::pair<const void *, Run::Callee>> Callees(Of.Callees.begin(), Of.Callees.end());
  llvm::stable_sort(Callees, [&](const auto &A, const auto &B) {
    return Context.getSourceManager().isBeforeInTranslationUnit(A.second.Loc, B.second.Loc);
  });
  return Callees;
}

/// In source order, each context once.
void Specialiser::reportErrors(const Run &Of) {
  if (!Reported.insert(&Of).second)
    return;
  std::vector<const ScopeError *> Errors;
  for (const auto &[E, V] : Of.Calls)
    if (V.Error)
      Errors.push_back(&*V.Error);
  for (const auto &[E, Error] : Of.Errors)
    Errors.push_back(&Error);
  auto At = [](const ScopeError *Error) { return Error->Lines.front().Loc; };
  const auto &Sources = Context.getSourceManager();
  llvm::stable_sort(Errors, [&](const ScopeError *A, const ScopeError *B) {
    return Sources.isBeforeInTranslationUnit(At(A), At(B));
  });
  for (const ScopeError *Error : Errors)
    report(*Error);
  for (const auto &[By, Callee] : calleesInOrder(Of))
    reportErrors(*Callee.Of);
}

/// What holds in all contexts seen so far.
void Specialiser::noteUniform(const Run &Of) {
  if (!Noted.insert(&Of).second)
    return;
  const auto &Sources = Context.getSourceManager();
  for (const auto &[Call, Variables] : Of.Uniform) {
    std::set<SourceLocation> Places;
    for (const clang::ValueDecl *V : Variables)
      Places.insert(Sources.getFileLoc(V->getLocation()));
    auto [Slot, New] = Uniform.try_emplace(nameLocation(Call, Context.getSourceManager()), Places);
    if (!New)
      std::erase_if(Slot->second, [&](SourceLocation Loc) { return !Places.count(Loc); });
  }
  for (const auto &[By, Callee] : Of.Callees)
    noteUniform(*Callee.Of);
}

void Specialiser::merge(Version &Into, const Entry &New, SourceLocation At,
                        const FunctionDecl *In) {
  auto [Slot, IsNew] = Into.try_emplace(At, New);
  if (IsNew)
    return;
  if (Slot->second.agreesWith(New))
    return Slot->second.add(New);
  if (isLambda(In))
    refuseLambda(At, New);
  else
    refuse(At, "specialise_function", {quoted(asWritten(In)), "this use of it"});
}

void Specialiser::refuseLambda(SourceLocation At, const Entry &In) {
  refuse(At, "scope_lambda",
         {In.Callee ? "the call of " + quoted(In.Callee->Callee) : "MPI_" + In.Call.Function});
}

/// Removes the entries of lambdas that stand in other functions, and returns them.
Specialiser::Version Specialiser::takeOutside(Version &All, const FunctionDecl *Written) const {
  const auto &Sources = Context.getSourceManager();
  SourceLocation Begin = Sources.getFileLoc(Written->getBeginLoc());
  SourceLocation End = Sources.getFileLoc(Written->getEndLoc());
  Version Outside;
  for (auto It = All.begin(); It != All.end();) {
    bool Inside = Sources.getFileID(Begin) == Sources.getFileID(It->first) && Begin <= It->first &&
                  It->first <= End;
    if (!Inside)
      Outside.insert(*It);
    It = Inside ? std::next(It) : All.erase(It);
  }
  return Outside;
}

/// What one context says of its own function's text, lambdas in it included; callees first.
Specialiser::Version Specialiser::versionOf(const Run &Of, std::optional<Scope> &Widest) {
  Version Own;
  for (const auto &[E, V] : Of.Calls) {
    Entry New;
    SourceLocation At = nameLocation(E, Context.getSourceManager());
    New.Call = {E,     At,       V.Function->Name.str(), V.Value, V.Function->isLocal(),
                V.Why, V.Caller, V.ReceivesInto};
    New.In = Of.Function;
    merge(Own, New, At, Of.Function);
    if (!V.Function->isLocal())
      Widest = Widest ? std::min(*Widest, V.Value) : V.Value;
  }
  for (const auto &[By, Called] : calleesInOrder(Of)) {
    const std::shared_ptr<const Run> &Callee = Called.Of;
    if (!Reach.reachesMpi(Callee->Function))
      continue;
    auto Known = Done.find(Callee.get());
    if (Known == Done.end()) {
      Placed New;
      Version Theirs = versionOf(*Callee, New.Widest);
      if (isLambda(Callee->Function)) {
        New.Lambdas = std::move(Theirs);
      } else {
        New.Lambdas = takeOutside(Theirs, asWritten(Callee->Function));
        New.Index = place(Callee->Function, Theirs, false);
      }
      Known = Done.emplace(Callee.get(), std::move(New)).first;
    }
    const Placed &Callees = Known->second;
    for (const auto &[At, New] : Callees.Lambdas)
      merge(Own, New, At, Callee->Function);
    if (Callees.Widest)
      Widest = Widest ? std::min(*Widest, *Callees.Widest) : *Callees.Widest;
    if (isLambda(Callee->Function))
      continue;
    std::string Fixed = calledWithoutName(Callee->Function);
    if (!Fixed.empty()) {
      if (Callees.Index != 0)
        report({{{Callee->Function->getLocation(),
                  "specialise_function",
                  {quoted(asWritten(Callee->Function)), Fixed}}}});
      continue;
    }
    const auto *Call = static_cast<const clang::CallExpr *>(By);
    Entry New;
    SourceLocation At = nameLocation(Call, Context.getSourceManager());
    New.Callee = CalleeUse{Call, At, asWritten(Callee->Function), Callees.Index};
    New.In = Of.Function;
    merge(Own, New, At, Of.Function);
  }
  return Own;
}

/// The version of the function that says the same, as far as both say anything; a new one if there
/// is none.
unsigned Specialiser::place(const FunctionDecl *Instance, const Version &New, bool Kernel) {
  Function &Of = Functions[asWritten(Instance)];
  Of.Kernel = Kernel;
  for (unsigned I = 0; I < Of.Versions.size(); ++I) {
    bool Agrees = true;
    const Entry *There = nullptr, *Here = nullptr;
    for (const auto &[At, E] : New) {
      auto Known = Of.Versions[I].find(At);
      if (Known != Of.Versions[I].end() && !Known->second.agreesWith(E)) {
        Agrees = false;
        There = &Known->second;
        Here = &E;
        break;
      }
    }
    if (Agrees) {
      for (const auto &[At, E] : New)
        if (auto [Slot, IsNew] = Of.Versions[I].try_emplace(At, E); !IsNew)
          Slot->second.add(E);
      return I;
    }
    if (Kernel) {
      const Entry &Either = Here->Callee ? *There : *Here;
      if (Either.Callee)
        report({{{Here->Callee->Loc,
                  "scope_instances_callee",
                  {Here->Callee->Callee->getNameAsString(), instance(Of.Example),
                   instance(Instance)}}}});
      else
        report({{{Here->Call.Loc,
                  "scope_instances",
                  {"MPI_" + Here->Call.Function, spelling(There->Call.Value).str(),
                   instance(Of.Example), spelling(Here->Call.Value).str(), instance(Instance)}}}});
      return 0;
    }
  }
  if (!Of.Example)
    Of.Example = Instance;
  Of.Versions.push_back(New);
  return static_cast<unsigned>(Of.Versions.size()) - 1;
}

void Specialiser::addKernel(const FunctionDecl *Kernel, const std::shared_ptr<const Run> &Of) {
  Kept.push_back(Of);
  bool Before = Failed;
  Failed = false;
  reportErrors(*Of);
  bool Usable = !Failed;
  Failed |= Before;
  if (!Usable)
    return;
  noteUniform(*Of);
  std::optional<Scope> Widest;
  Version Own = versionOf(*Of, Widest);
  // Lambdas that host code gives to the kernel are functions of their own.
  std::map<const FunctionDecl *, Version> Given;
  for (auto &[At, E] : takeOutside(Own, asWritten(Kernel)))
    Given[E.In].insert({At, E});
  for (const auto &[Lambda, Theirs] : Given)
    if (place(Lambda, Theirs, false) != 0)
      refuseLambda(Lambda->getLocation(), Theirs.begin()->second);
  place(Kernel, Own, true);
  Function &Entry = Functions[asWritten(Kernel)];
  if (Widest)
    Entry.Widest = Entry.Widest ? std::min(*Entry.Widest, *Widest) : *Widest;
}

namespace {

/// All MPI calls, and calls that reach MPI, in a body.
class CallFinder : public clang::DynamicRecursiveASTVisitor {
public:
  explicit CallFinder(MpiReach &Reach) : Reach(Reach) { ShouldVisitImplicitCode = true; }
  bool VisitCallExpr(clang::CallExpr *E) override {
    const FunctionDecl *Callee = E->getDirectCallee();
    if (!Callee) {
      const auto *Name =
          llvm::dyn_cast<clang::UnresolvedLookupExpr>(E->getCallee()->IgnoreParenImpCasts());
      if (Name && Name->getName().isIdentifier())
        if (const MpiFunction *Mpi =
                findMpiFunction(Name->getName().getAsIdentifierInfo()->getName()))
          Calls.push_back({E, Mpi});
      return true;
    }
    if (const MpiFunction *Mpi = mpiFunctionOf(Callee))
      Calls.push_back({E, Mpi});
    else if (Reach.reachesMpi(Callee))
      Callees.push_back(E);
    return true;
  }
  std::vector<std::pair<const clang::CallExpr *, const MpiFunction *>> Calls;
  std::vector<const clang::CallExpr *> Callees;

private:
  MpiReach &Reach;
};

} // namespace

void Specialiser::addUnreached(const FunctionDecl *Written, const Engine &Shared, bool LeaveOut) {
  // A lambda in device code belongs to the function it stands in.
  for (const clang::DeclContext *Around = Written->getParent(); Around;
       Around = Around->getParent())
    if (const auto *Outer = llvm::dyn_cast<FunctionDecl>(Around);
        Outer && isLambda(Written) &&
        (Outer->hasAttr<clang::CUDAGlobalAttr>() || Outer->hasAttr<clang::CUDADeviceAttr>()))
      return;
  CallFinder Finder(Reach);
  Finder.TraverseDecl(const_cast<FunctionDecl *>(Written));
  if (Finder.Calls.empty() && Finder.Callees.empty())
    return;
  if (LeaveOut && !Functions.count(Written)) {
    for (auto [E, Mpi] : Finder.Calls)
      Shared.pragmaFor(E->getExprLoc());
    return;
  }
  Function &Of = Functions[Written];
  if (Written->hasAttr<clang::CUDAGlobalAttr>())
    Of.Kernel = true;
  if (Of.Versions.empty())
    Of.Versions.emplace_back();
  for (Version &Each : Of.Versions) {
    for (auto [E, Mpi] : Finder.Calls) {
      SourceLocation At = nameLocation(E, Context.getSourceManager());
      std::optional<Scope> Pragma;
      if (!Mpi->isLocal())
        Pragma = Shared.pragmaFor(E->getExprLoc());
      Entry New;
      New.Call = {E,
                  At,
                  Mpi->Name.str(),
                  Pragma.value_or(Scope::Thread),
                  Mpi->isLocal(),
                  Pragma ? "as '#pragma gmpi scope(" + spelling(*Pragma).str() + ")' says"
                         : "nothing here reaches it"};
      if (Each.try_emplace(At, New).second && Of.Kernel && !Mpi->isLocal())
        Of.Widest = Of.Widest ? std::min(*Of.Widest, New.Call.Value) : New.Call.Value;
    }
    for (const clang::CallExpr *E : Finder.Callees) {
      if (isLambda(E->getDirectCallee()) || !calledWithoutName(E->getDirectCallee()).empty())
        continue;
      SourceLocation At = nameLocation(E, Context.getSourceManager());
      Entry New;
      New.Callee = CalleeUse{E, At, asWritten(E->getDirectCallee()), 0};
      Each.try_emplace(At, New);
    }
  }
}

ScopeResult Specialiser::finish() {
  ScopeResult Result;
  const auto &Sources = Context.getSourceManager();
  auto Before = [&](SourceLocation A, SourceLocation B) {
    return Sources.isBeforeInTranslationUnit(A, B);
  };
  for (auto &[Written, Of] : Functions) {
    ScopedFunction New{Written, Of.Kernel, Of.Widest, {}};
    for (const Version &Each : Of.Versions) {
      Specialisation S;
      for (const auto &[At, E] : Each)
        if (E.Callee)
          S.Callees.push_back(*E.Callee);
        else
          S.Calls.push_back(E.Call);
      auto ByPlace = [&](const auto &A, const auto &B) { return Before(A.Loc, B.Loc); };
      llvm::stable_sort(S.Calls, ByPlace);
      llvm::stable_sort(S.Callees, ByPlace);
      New.Specialisations.push_back(std::move(S));
    }
    Result.Functions.push_back(std::move(New));
  }
  llvm::stable_sort(Result.Functions, [&](const ScopedFunction &A, const ScopedFunction &B) {
    return Before(A.Function->getLocation(), B.Function->getLocation());
  });
  Result.Uniform = std::move(Uniform);
  return Result;
}

} // namespace gmpi::translate
