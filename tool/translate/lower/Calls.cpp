// MPI calls in device code, and copies of device functions that make them under several scopes.
//
//   MPI_Send(buf, n, ...)   becomes   ::gmpi::grid::MPI_Send({file, line}, buf, n, ...)
//
// A call that may be left to the next one is ::gmpi::grid::followed's; where none comes at once,
// ::gmpi::grid::make_left() makes what has been left.
#include "../Precompiled.h"
#include "../analyze/SpecialFunctions.h"
#include "../emit/LineDirective.h"
#include "Lowering.h"
#include "SharedVariables.h"

namespace gmpi::translate {

using namespace clang;

namespace {

/// The pattern's call at this place, which has the arguments as written.
std::map<Position, const MpiCall *> callsByPlace(const Lowering &L) {
  std::map<Position, const MpiCall *> Result;
  Locations Where(L.Code);
  for (const MpiCall &Call : L.CodeModel.MpiCalls)
    Result[Where.position(Call.NameLoc)] = &Call;
  return Result;
}

/// Replaces the name, qualifiers included, and adds the site as first argument.
void rewriteCall(Lowering &L, Edits &Changes, const CallExpr *Call, SourceLocation NameLoc,
                 StringRef Function, StringRef Scope) {
  Locations Where(L.Code);
  Span Name = Where.token(NameLoc);
  SourceLocation Begin = Call->getCallee()->IgnoreParenImpCasts()->getBeginLoc();
  if (Span Qualified = Where.span({Begin, NameLoc});
      Qualified.isValid() && Qualified.End == Name.End)
    Name = Qualified;
  Changes.replace(Name, ("::gmpi::" + Scope + "::" + Function).str());
  // `(MPI_Send)(...)`: the arguments begin after the next parenthesis that opens.
  Position Open{Name.Begin.File, afterOpeningParenthesis(*Name.Begin.File, Name.End)};
  Changes.insert(Open, L.site(Name.Begin) + (Call->getNumArgs() == 0 ? "" : ", "));
}

class CallLowering {
public:
  explicit CallLowering(Lowering &L) : L(L), Where(L.Code), Calls(callsByPlace(L)) {}

  void lower() {
    for (const ScopedFunction &F : L.Scopes.Functions) {
      if (L.replacedWhole(Where.position(F.Function->getLocation())))
        note(F.Specialisations.front());
      else
        rewrite(F.Specialisations.front(), L.Changes);
      for (unsigned I = 1; I < F.Specialisations.size(); ++I)
        copy(F, I);
    }
    tellUnreached();
    for (const ScopePragma &Pragma : L.Code.pragmas())
      if (!L.replacedWhole(L.Code.position(Pragma.Loc)))
        quiet(Pragma, L.Changes);
  }

  /// See callEdits().
  Edits splitVersion(const SplitFunction &F) {
    for (const SuspensionPoint &Point : F.Points)
      Left.insert(Point.Name.Begin);
    Edits Own;
    if (F.Scoped)
      rewrite(F.Scoped->Specialisations[F.Version], Own);
    rewriteWithin(F.Written, Own);
    return Own;
  }

private:
  void rewrite(const Specialisation &S, Edits &Changes);
  void copy(const ScopedFunction &F, unsigned Index);
  bool canBeCopied(const FunctionDecl *F);
  void tellUnreached();
  void quiet(const ScopePragma &Pragma, Edits &Changes);
  void rewriteWithin(const FunctionDecl *Function, Edits &Changes);
  void note(const Specialisation &S) {
    for (const ScopedCall &Call : S.Calls)
      Reached.insert(place(Call.Call));
  }
  std::optional<Scope> pragmaBefore(const Position &Call) const;
  Position place(const CallExpr *Call) const {
    return Where.position(nameLocation(Call->getCallee()->IgnoreParenImpCasts()));
  }
  static std::string copyName(const FunctionDecl *F, unsigned Index) {
    return F->getNameAsString() + "__scope" + std::to_string(Index + 1);
  }

  Lowering &L;
  Locations Where;
  std::map<Position, const MpiCall *> Calls;
  std::set<Position> Reached;
  std::set<Position> Left; ///< calls that somebody else rewrites
};

void CallLowering::rewrite(const Specialisation &S, Edits &Changes) {
  for (const ScopedCall &Call : S.Calls) {
    Position At = place(Call.Call);
    auto Written = Calls.find(At);
    Reached.insert(At);
    if (Left.count(At))
      continue;
    if (Written == Calls.end()) {
      auto Why = Where.inSystemHeader(Call.Loc) ? DiagId::system_header : DiagId::call_in_macro;
      L.Code.diagnostics().report(Why, Where.shown(Call.Loc), {"MPI_" + Call.Function});
      continue;
    }
    // What ends the program needs no meeting: in segments there is none.
    bool Alone = !Left.empty() && Call.Value == Scope::Grid;
    std::string Group = spelling(Alone ? Scope::Thread : Call.Value).str();
    if (Call.Followed && !Alone)
      Group += "::followed";
    rewriteCall(L, Changes, Written->second->Call, Written->second->NameLoc, "MPI_" + Call.Function,
                Group);
  }
  if (Left.empty())
    for (auto [Begin, Made] : S.Makings) {
      Span Whole = Where.statement(Made);
      Position Behind{Whole.Begin.File, Whole.End};
      Changes.insert(Behind, " ::gmpi::grid::make_left(" + L.site(Behind) + ");");
    }
  for (const CalleeUse &Use : S.Callees)
    if (Use.Specialisation != 0 &&
        !Left.count(Where.position(nameLocation(Use.Call->getCallee()->IgnoreParenImpCasts())))) {
      Span Name = Where.token(nameLocation(Use.Call->getCallee()->IgnoreParenImpCasts()));
      if (Name.isValid())
        Changes.replace(Name, copyName(asWritten(Use.Callee), Use.Specialisation));
    }
}

bool CallLowering::canBeCopied(const FunctionDecl *F) {
  std::string Why = cannotBeCopied(F);
  if (Why.empty())
    return true;
  L.Code.diagnostics().report(DiagId::specialise_function, Where.shown(F->getLocation()),
                              {"'" + F->getNameAsString() + "'", Why});
  return false;
}

/// The function's text once more, under another name and with this specialisation's calls.
void CallLowering::copy(const ScopedFunction &F, unsigned Index) {
  const FunctionDecl *Function = asWritten(F.Function);
  if (!canBeCopied(Function))
    return;
  auto S = readSignature(L.Code, Function);
  if (!S)
    return;
  Edits Own;
  rewrite(F.Specialisations[Index], Own);
  rewriteWithin(Function, Own);
  Own.replace(S->Name, copyName(Function, Index));
  const SourceFile &File = *S->Name.Begin.File;
  insertLinesAfter(L, {&File, S->Whole.End},
                   lineDirective(File, S->Whole.Begin.line()) + Own.apply(S->Whole) + "\n");
  for (const FunctionDecl *Earlier : Function->redecls()) {
    if (Earlier == Function || Earlier->isThisDeclarationADefinition())
      continue;
    if (auto Declared = readSignature(L.Code, Earlier)) {
      Edits Renamed;
      Renamed.replace(Declared->Name, copyName(Function, Index));
      insertLinesAfter(L, {Declared->Name.Begin.File, Declared->Whole.End},
                       lineDirective(*Declared->Name.Begin.File, Declared->Whole.Begin.line()) +
                           Renamed.apply(Declared->Whole) + "\n");
    }
  }
}

/// Compilers warn of pragmas that they do not know: it becomes a comment.
void CallLowering::quiet(const ScopePragma &Pragma, Edits &Changes) {
  Position At = L.Code.position(Pragma.Loc);
  if (At.isValid() && !At.File->System && At.File->Text[At.Offset] == '#')
    Changes.insert(At, "// ");
}

/// What a copy of a function needs besides its calls.
void CallLowering::rewriteWithin(const FunctionDecl *Function, Edits &Changes) {
  Position Begin = Where.position(Function->getBody()->getBeginLoc());
  Position End = Where.position(Function->getBody()->getEndLoc());
  auto Inside = [&](const Position &At) {
    return At.File == Begin.File && !(At < Begin) && At < End;
  };
  for (const ScopePragma &Pragma : L.Code.pragmas())
    if (Inside(L.Code.position(Pragma.Loc)))
      quiet(Pragma, Changes);
  if (L.isCpu())
    for (const SharedDeclaration &Declaration : L.CodeModel.Shared)
      if (Inside(Where.position(Declaration.Variables.front()->getLocation())))
        lowerSharedDeclaration(L, Declaration, Changes);
}

/// What a pragma right before the call's statement says.
std::optional<Scope> CallLowering::pragmaBefore(const Position &Call) const {
  for (const ScopePragma &Pragma : L.Code.pragmas()) {
    Position At = L.Code.position(Pragma.Loc);
    if (At.File != Call.File || Call < At)
      continue;
    Span Between{{At.File, At.File->endOfLine(At.Offset)}, Call.Offset};
    if (Between.Begin.Offset <= Call.Offset &&
        Between.text().find_first_of(";{}") == StringRef::npos)
      return Pragma.Value;
  }
  return std::nullopt;
}

/// Whether host code may make this call. Clang makes lambdas in device functions __host__, too.
bool mayBeOnHost(const FunctionDecl *Within) {
  while (Within) {
    if (!isDeviceCode(Within))
      return true;
    const auto *Host = Within->getAttr<CUDAHostAttr>();
    if (!Host || !Host->isImplicit())
      return Host;
    Within = dyn_cast_or_null<FunctionDecl>(Within->getParentFunctionOrMethod());
  }
  return true;
}

/// Calls that no kernel of this file reaches. A template that nothing here instantiates stays as
/// written: should a compiler instantiate it after all, it says that MPI is the host's. Elsewhere
/// it would say so at once, and the scope is anybody's guess.
void CallLowering::tellUnreached() {
  for (auto &[At, Call] : Calls) {
    if (Reached.count(At) || L.staysIfUnreached(Call->Within) || mayBeOnHost(Call->Within))
      continue;
    if (auto Said = pragmaBefore(At))
      rewriteCall(L, L.Changes, Call->Call, Call->NameLoc, Call->Function, spelling(*Said));
    else
      L.Code.diagnostics().report(DiagId::unreached_call, Where.shown(Call->NameLoc),
                                  {Call->Function});
  }
}

} // namespace

void lowerCalls(Lowering &L) { CallLowering(L).lower(); }

std::vector<std::pair<Span, std::string>> callEdits(Lowering &L, const SplitFunction &F) {
  return CallLowering(L).splitVersion(F).all();
}

} // namespace gmpi::translate
