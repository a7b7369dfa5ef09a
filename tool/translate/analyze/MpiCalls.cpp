// One MPI call in one context: its scope from the control it stands under and from its arguments,
// or why it has none; and what it leaves in memory.
//
//   control   arguments                      scope
//   grid      grid                           grid
//   <= block  block                          block
//   any       thread                         thread
//   thread    grid or block                  thread, where one thread is selected; else an error
//   block     grid                           block, where one block is selected; else an error
//
// What a message in local memory holds does not decide the scope: at grid scope it must be the same
// in all threads.
#include "Interpreter.h"

namespace gmpi::translate {

using clang::Expr;

struct Interpreter::MpiCall {
  const clang::CallExpr *E;
  const MpiFunction &Function;
  llvm::SmallVector<llvm::StringRef, 12> Uses, Roles;
  Control At;
  Value Given;                   ///< all arguments but what send buffers hold
  const Expr *GivenBy = nullptr; ///< the argument that lowers it furthest
  Value Sent;                    ///< what send buffers in local memory hold
  const Expr *SentBy = nullptr;
  Verdict Result;

  std::string name() const { return "MPI_" + Function.Name.str(); }
  std::optional<unsigned> argument(llvm::StringRef Role) const {
    const auto *Found = llvm::find(Roles, Role);
    unsigned I = static_cast<unsigned>(Found - Roles.begin());
    return Found == Roles.end() || I >= E->getNumArgs() ? std::nullopt : std::optional(I);
  }
  void give(const Value &V, const Expr *By) { take(Given, GivenBy, V, By); }
  void send(const Value &V, const Expr *By) { take(Sent, SentBy, V, By); }

private:
  static void take(Value &Into, const Expr *&IntoBy, const Value &V, const Expr *By) {
    const Cause *Before = Into.Why;
    Into.lower(V);
    if (Into.Why != Before)
      IntoBy = By;
  }
};

namespace {

/// A predefined datatype or a number: nothing in it is a variable.
bool isFixed(const clang::Stmt *S) {
  if (const auto *Reference = llvm::dyn_cast<clang::DeclRefExpr>(S))
    if (const auto *Variable = llvm::dyn_cast<clang::VarDecl>(Reference->getDecl()))
      return !Variable->hasLocalStorage();
  return llvm::all_of(S->children(),
                      [](const clang::Stmt *Child) { return !Child || isFixed(Child); });
}

bool isOne(const Expr *E, const clang::ASTContext &Context) {
  Expr::EvalResult Result;
  return !E->isValueDependent() && E->EvaluateAsInt(Result, Context) && Result.Val.getInt() == 1;
}

/// The count and datatype that go with a buffer.
std::pair<llvm::StringRef, llvm::StringRef> extentRoles(llvm::StringRef Buffer,
                                                        llvm::ArrayRef<llvm::StringRef> Roles) {
  if (llvm::is_contained(Roles, "count"))
    return {"count", "datatype"};
  return Buffer.starts_with("send") ? std::pair{"send_count", "send_datatype"}
                                    : std::pair{"recv_count", "recv_datatype"};
}

/// MPI_IN_PLACE, or a pointer that may be: not the address of anything known.
bool mayBeInPlace(const Value &Pointer) {
  return Pointer.Targets.empty() || llvm::any_of(Pointer.Targets, [](const Place &Target) {
           return Target.Memory == Place::Kind::Global && Target.Root.isNull();
         });
}

const Place *localTarget(const Value &Pointer) {
  for (const Place &Target : Pointer.Targets)
    if (Target.Memory == Place::Kind::Local)
      return &Target;
  return nullptr;
}

llvm::StringRef groupOf(Scope S) { return S == Scope::Thread ? "thread" : "block"; }

/// "`i` depends on `threadIdx.x` (line 7)".
std::string clause(const std::string &Name, const Cause &Why, unsigned Line) {
  std::string Where = " (line " + std::to_string(Line) + ")";
  if (Why.Because)
    return Name + " is assigned under " + Why.What + Where;
  if (Name == Why.What)
    return Why.What + Where + (Why.Detail.empty() ? "" : ", " + Why.Detail);
  return Name + " depends on " + Why.What + Where + (Why.Detail.empty() ? "" : ", " + Why.Detail);
}

} // namespace

Value Interpreter::mpiCall(const clang::CallExpr *E, const MpiFunction &Function) {
  MpiCall Call{E,
               Function,
               argumentUses(Function),
               argumentRoles(Function),
               Controls[CurrentBlock],
               {},
               nullptr,
               {},
               nullptr,
               {}};
  Call.Result.Function = &Function;
  bool InPlace = false;
  for (unsigned I = 0; I < E->getNumArgs() && I < Call.Uses.size(); ++I) {
    const Expr *Argument = E->getArg(I);
    llvm::StringRef Use = Call.Uses[I];
    Value V = value(Argument);
    Call.give(V, Argument);
    if (Use == "request" || Use == "requests" || Use == "status_in")
      Call.give(contents(V, Use != "requests", Argument), Argument);
    if (Use == "buffer_in")
      InPlace = Function.Kind == "collective" && mayBeInPlace(V);
    if (Use == "buffer_in" || Use == "buffer_inout" || (Use == "buffer_out" && InPlace)) {
      auto [Count, Datatype] = extentRoles(Call.Roles[I], Call.Roles);
      auto N = Call.argument(Count), T = Call.argument(Datatype);
      bool OneOnly = N && T && isOne(E->getArg(*N), Shared.Ast) && isFixed(E->getArg(*T));
      Call.send(contents(V, OneOnly, Argument), Argument);
    }
  }
  judge(Call);
  noteUniform(E);
  writeResults(Call);
  Value Returned = Value::varying(Scope::Grid, nullptr);
  Scope Made = Function.isLocal() ? Call.Given.Level : Call.Result.Value;
  if (Function.Name == "Wtime" || Function.Name == "Wtick")
    Made = Scope::Thread;
  if (Made != Scope::Grid)
    Returned = seed(E, Made);
  Result->Calls[E] = std::move(Call.Result);
  return Returned;
}

void Interpreter::judge(MpiCall &Call) {
  Verdict &V = Call.Result;
  V.Value = join(Call.At.Level, Call.Given.Level);
  std::optional<Scope> Pragma = Shared.pragmaFor(Call.E->getExprLoc());
  if (Call.Function.isLocal()) {
    V.Value = Scope::Thread;
    V.Why = "it asks nobody else";
    return;
  }
  if (Pragma)
    V.Value = *Pragma;
  if (V.Value == Scope::Thread)
    findCaller(Call);
  explain(Call);
  if (Pragma)
    V.Why = "as '#pragma gmpi scope(" + spelling(*Pragma).str() + ")' says";
  else if (Call.Function.Kind != "terminal")
    judgeControl(Call);
  if (Call.Function.Kind != "nonblocking" || V.Value == Scope::Thread)
    return;
  for (unsigned I = 0; I < Call.E->getNumArgs(); ++I) {
    if (Call.Uses[I] != "buffer_out" && Call.Uses[I] != "buffer_inout")
      continue;
    if (const Place *Local = localTarget(value(Call.E->getArg(I)))) {
      ScopeError Error;
      std::string Name = Local->spelled();
      Error.Lines.push_back(
          {Call.E->getExprLoc(),
           "scope_receive_local",
           {Call.name(), Name.empty() ? "a temporary" : Name, spelling(V.Value).str()}});
      V.Error = std::move(Error);
    }
  }
}

/// The table at the top of this file, and what may not be.
void Interpreter::judgeControl(MpiCall &Call) {
  Verdict &V = Call.Result;
  Scope S = V.Value;
  ScopeError Error;
  auto Say = [&](const char *Id, std::vector<std::string> Arguments) {
    Error.Lines.push_back({Call.E->getExprLoc(), Id, std::move(Arguments)});
  };
  bool ByControl = Call.At.Level == S && S != Scope::Grid;
  bool ByArguments = Call.Given.Level == S && S != Scope::Grid;
  bool Proven = S == Scope::Grid || (ByControl && (!Call.At.Why || Call.At.Why->Proven)) ||
                (ByArguments && (!Call.Given.Why || Call.Given.Why->Proven));
  if (!Proven) {
    const Cause *Why = ByArguments ? Call.Given.Why : Call.At.Why;
    std::string Name = Why->What;
    const Expr *By = ByArguments ? culprit(Call.GivenBy, S) : nullptr;
    if (ByArguments)
      Name = "`" + Shared.text(By ? By : Call.GivenBy) + "`";
    Say("scope_unknown", {Call.name(), Name, groupOf(S).str()});
    addNotes(Error, Name, Why);
    V.Error = std::move(Error);
    return;
  }
  if (S != Scope::Thread && Call.Sent.Level > S) {
    Value Pointer = value(Call.SentBy);
    const Place *Local = localTarget(Pointer);
    std::string Name = Local ? Local->spelled() : "";
    if (Name.empty())
      Name = "`" + Shared.text(Call.SentBy) + "`";
    Say("scope_send_buffer",
        {Call.name(), Name, groupOf(Call.Sent.Level).str(), spelling(S).str()});
    addNotes(Error, Name, Call.Sent.Why);
    V.Error = std::move(Error);
    return;
  }
  if (!ByControl || join(Call.Given.Level, Call.Sent.Level) == S)
    return;
  bool Selected = S == Scope::Thread ? selectsOneThread(Call.At.Fixed, Shared.UsedParts)
                                     : selectsOneBlock(Call.At.Fixed, Shared.UsedParts);
  if (Selected)
    return;
  std::string Condition = Call.At.Why ? Call.At.Why->What : "the condition";
  Say("scope_repeated_call", {Call.name(), groupOf(S).str(), Condition,
                              S == Scope::Thread ? "threadIdx.x == 0" : "blockIdx.x == 0"});
  addNotes(Error, Condition, Call.At.Why);
  V.Error = std::move(Error);
}

/// Whether it is always the same thread that makes the call, and which.
void Interpreter::findCaller(MpiCall &Call) {
  Verdict &V = Call.Result;
  const Control &At = Call.At;
  unsigned Fixed = At.Zero;
  if (selectsOneThread(Fixed, Shared.UsedParts) && selectsOneBlock(Fixed, Shared.UsedParts)) {
    V.Caller = "0";
  } else {
    std::string Text;
    for (const auto &[Parts, Comparison] : At.Named) {
      Fixed |= Parts;
      Text += Comparison + ", ";
    }
    if (selectsOneThread(Fixed, Shared.UsedParts) && selectsOneBlock(Fixed, Shared.UsedParts))
      V.Caller = Text + "zero: " + std::to_string(At.Zero);
  }
  if (Call.Function.Kind != "nonblocking")
    return;
  for (unsigned I = 0; I < Call.E->getNumArgs() && I < Call.Uses.size(); ++I)
    if (Call.Uses[I] == "buffer_out" || Call.Uses[I] == "buffer_inout")
      if (const Place *Local = localTarget(value(Call.E->getArg(I)))) {
        std::string Name = Local->spelled();
        V.ReceivesInto = Name.empty() ? "a temporary" : Name;
      }
}

/// Why it has its scope, for the remark.
void Interpreter::explain(MpiCall &Call) {
  Verdict &V = Call.Result;
  if (V.Value == Scope::Grid) {
    V.Why = "control and arguments are the same for all threads";
    return;
  }
  const Cause *Why = Call.Given.Why;
  if (Call.Given.Level == V.Value && Why) {
    const Expr *By = culprit(Call.GivenBy, V.Value);
    V.Why = clause("`" + Shared.text(By ? By : Call.GivenBy) + "`", *Why, Shared.line(Why->Loc));
    return;
  }
  Why = Call.At.Why;
  if (!Why)
    return;
  unsigned Fixed = Call.At.Fixed;
  std::string Selects = selectsOneThread(Fixed, Shared.UsedParts)
                            ? selectsOneBlock(Fixed, Shared.UsedParts) ? "one thread of the grid"
                                                                       : "one thread of each block"
                        : V.Value == Scope::Block && selectsOneBlock(Fixed, Shared.UsedParts)
                            ? "one block"
                            : "some " + groupOf(V.Value).str() + "s";
  V.Why =
      "under " + Why->What + " (line " + std::to_string(Shared.line(Why->Loc)) + "): " + Selects;
}

/// The variable in an expression that makes it differ; null if it is no variable.
const Expr *Interpreter::culprit(const Expr *E, Scope Level) {
  if (!E)
    return nullptr;
  if (const auto *Cast = llvm::dyn_cast<clang::CastExpr>(E))
    if (Cast->getCastKind() == clang::CK_LValueToRValue)
      if (const auto *Name = llvm::dyn_cast<clang::DeclRefExpr>(Cast->getSubExpr()->IgnoreParens()))
        return Values.lookup(E).Level == Level ? Name : nullptr;
  if (llvm::isa<clang::PseudoObjectExpr, clang::LambdaExpr>(E))
    return nullptr;
  const Expr *Found = nullptr;
  for (const clang::Stmt *Child : E->children())
    if (const auto *Sub = llvm::dyn_cast_if_present<Expr>(Child); Sub && !Found)
      Found = culprit(Sub, Level);
  return Found;
}

/// What is named so depends on the cause, and that on what is behind it.
void Interpreter::addNotes(ScopeError &Error, std::string Name, const Cause *Why) {
  for (; Why; Why = Why->Because) {
    std::string Detail = Why->Detail.empty() ? "" : ", " + Why->Detail;
    bool IsCondition = Why->Because;
    if (IsCondition && Name != Why->What)
      Error.Lines.push_back({Why->Loc, "scope_assigned", {Name, Why->What, Detail}});
    else if (!IsCondition && Name == Why->What)
      Error.Lines.push_back({Why->Loc, "scope_here", {Name, Detail}});
    else if (!IsCondition)
      Error.Lines.push_back({Why->Loc, "scope_depends", {Name, Why->What, Detail}});
    Name = Why->Variable.empty() ? Why->What : "`" + Why->Variable + "`";
  }
}

/// What the call leaves: results and messages are as uniform as the call is wide.
void Interpreter::writeResults(MpiCall &Call) {
  bool Local = Call.Function.isLocal();
  Scope Made = Local ? Call.Given.Level : Call.Result.Value;
  auto Meet = [&] {
    if (!Local && Made == Scope::Grid && Call.Function.Kind != "terminal")
      Now.gridMeets();
    else if (!Local && Made == Scope::Block && Call.Function.Kind != "terminal")
      Now.blockMeets();
  };
  Value Written;
  if (Made != Scope::Grid) {
    std::string Detail = Local ? "" : "which is called once for each " + groupOf(Made).str();
    Written = Value::varying(
        Made, Local && Call.Given.Why
                  ? Call.Given.Why
                  : Shared.Why.get({Call.E->getBeginLoc(), "`" + Call.name() + "`", Detail, true}));
  }
  Meet();
  for (unsigned I = 0; I < Call.E->getNumArgs() && I < Call.Uses.size(); ++I) {
    const Expr *Argument = Call.E->getArg(I);
    llvm::StringRef Use = Call.Uses[I];
    bool IsMessage = Use == "buffer_out" || Use == "buffer_inout";
    bool IsOut = IsMessage || Use == "request_out" || Use == "request" || Use == "requests" ||
                 Use == "status_out" || Use == "statuses_out" || Use == "result_out";
    Value Pointer = value(Argument);
    if (!IsOut || Pointer.Targets.empty())
      continue;
    // A message may be shorter than its buffer, or there may be none (MPI_PROC_NULL): then what was
    // there stays. Test and Iprobe leave all but their flag alone where that is false.
    bool MayFail = Call.Function.Name == "Test" || Call.Function.Name == "Iprobe";
    bool Certain = !IsMessage && Use != "requests" && Use != "statuses_out" &&
                   (!MayFail || Use == "result_out");
    auto [Count, Datatype] = extentRoles(Call.Roles[I], Call.Roles);
    auto N = Call.argument(Count), T = Call.argument(Datatype);
    bool OneOnly = !IsMessage ||
                   (N && T && isOne(Call.E->getArg(*N), Shared.Ast) && isFixed(Call.E->getArg(*T)));
    if (Call.Function.Name == "Allreduce" && OneOnly)
      Certain = true;
    for (Place Target : Pointer.Targets) {
      if (!OneOnly && Target.Memory == Place::Kind::Local) {
        while (!Target.Steps.empty() && Target.Steps.back().Field &&
               (Target.type().isNull() || !Target.type()->isArrayType()))
          Target.Steps.pop_back();
        while (!Target.Steps.empty() && !Target.Steps.back().Field)
          Target.Steps.pop_back();
      }
      Value At = Pointer;
      At.Targets.clear();
      At.addTarget(Target);
      bool Maybe = !Certain || Pointer.Targets.size() > 1;
      store(At, Target.Memory == Place::Kind::Local ? Target.type() : clang::QualType(), Written,
            Call.E, false, Maybe);
    }
  }
  Meet();
}

} // namespace gmpi::translate
