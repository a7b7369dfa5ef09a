// Classifies variables and packs their slots.
#include "FramePlan.h"
#include "../Precompiled.h"
#include "../model/Model.h"
#include "KnownFunctions.h"

namespace gmpi::translate {

using namespace clang;

llvm::StringRef spelling(Keeping How) {
  static const char *const Names[] = {"passed again", "recomputed",     "dead",  "spilled",
                                      "spilled",      "frame-resident", "shared"};
  return Names[static_cast<int>(How)];
}

void FrameSize::add(const FrameSize &Other) {
  Uniform += Other.Uniform;
  Block += Other.Block;
  Thread += Other.Thread;
}

unsigned slotBytes(unsigned Bytes) {
  if (Bytes >= 16)
    return unsigned(llvm::alignTo(Bytes, 16));
  return unsigned(llvm::PowerOf2Ceil(std::max(Bytes, 1u)));
}

namespace {

/// Makes a group, or asks one; the threads that happen to be together are another matter.
bool isGroup(const CallExpr *Call) {
  const FunctionDecl *Function = Call->getDirectCallee();
  return Function && isInCooperativeGroups(Function) &&
         !(Function->getIdentifier() && Function->getName() == "coalesced_threads");
}

/// Functions whose result depends on who asks and on their arguments alone.
bool isPureCall(const CallExpr *Call) {
  if (!Call->getDirectCallee())
    return false;
  if (isa<CXXOperatorCallExpr>(Call))
    return false;
  Effect What = classify(Call).What;
  return What == Effect::Computes || What == Effect::Rank ||
         (isGroup(Call) && What != Effect::GridMeets && What != Effect::BlockMeets);
}

/// MPI's handles and statuses differ in size from library to library: room for all of them.
unsigned extraBytes(QualType Type) {
  if (const auto *Array = Type->getAsArrayTypeUnsafe()) {
    const auto *Constant = dyn_cast<ConstantArrayType>(Array);
    return extraBytes(Array->getElementType()) *
           (Constant ? unsigned(Constant->getSize().getZExtValue()) : 1);
  }
  if (const auto *Name = Type->getAs<TypedefType>();
      Name && Name->getDecl()->getName().starts_with("MPI_"))
    return Name->getDecl()->getName() == "MPI_Status" ? 12 : 4;
  unsigned Bytes = 0;
  if (const auto *Record = Type->getAsRecordDecl())
    for (const FieldDecl *Field : Record->fields())
      Bytes += extraBytes(Field->getType());
  return Bytes;
}

/// Scopes and loops around variables and points, by offset.
class Extents : public DynamicRecursiveASTVisitor {
public:
  struct Range {
    unsigned Begin, End;
  };

  Extents(const Pass &Code) : Where(Code), Code(Code) {}
  bool TraverseLambdaExpr(LambdaExpr *) override { return true; }

  bool TraverseStmt(Stmt *S) override {
    if (!S)
      return true;
    bool Opens = isa<CompoundStmt, ForStmt, IfStmt, WhileStmt, SwitchStmt, CXXForRangeStmt>(S);
    if (auto *For = dyn_cast<ForStmt>(S))
      loop(For->getCond()  ? For->getCond()->getBeginLoc()
           : For->getInc() ? For->getInc()->getBeginLoc()
                           : For->getBody()->getBeginLoc(),
           S);
    else if (isa<WhileStmt, DoStmt, CXXForRangeStmt>(S))
      loop(S->getBeginLoc(), S);
    if (Opens)
      Ends.push_back(end(S));
    bool Outermost = isa<Expr>(S) && !InExpression;
    if (Outermost) {
      InExpression = true;
      ExpressionBegin = at(S->getBeginLoc());
    }
    bool Result = DynamicRecursiveASTVisitor::TraverseStmt(S);
    if (Outermost)
      InExpression = false;
    if (Opens)
      Ends.pop_back();
    return Result;
  }
  bool VisitCallExpr(CallExpr *E) override {
    FullExpression[E] = ExpressionBegin;
    return true;
  }
  bool VisitVarDecl(VarDecl *V) override {
    if (isa<ParmVarDecl>(V) || V->isImplicit())
      return true;
    // Not yet in its own initializer.
    unsigned From = at(V->getLocation());
    if (V->getInit() && !V->isCXXForRangeDecl())
      From = std::max(From, at(V->getInit()->getEndLoc()));
    Variables.push_back({V, {From, Ends.empty() ? ~0u : Ends.back()}});
    return true;
  }
  bool VisitReturnStmt(ReturnStmt *S) override {
    Returns.push_back(at(S->getBeginLoc()));
    return true;
  }

  std::vector<std::pair<const VarDecl *, Range>> Variables;
  std::vector<Range> Loops;
  std::vector<unsigned> Returns;
  /// Where the whole expression begins that a call stands in: the rest of it comes after the call.
  llvm::DenseMap<const CallExpr *, unsigned> FullExpression;

private:
  unsigned at(SourceLocation Loc) const { return anyPlace(Where, Code, Loc).Offset; }
  unsigned end(const Stmt *S) const { return at(S->getEndLoc()); }
  void loop(SourceLocation Begin, const Stmt *S) { Loops.push_back({at(Begin), end(S)}); }

  Locations Where;
  const Pass &Code;
  std::vector<unsigned> Ends;
  bool InExpression = false;
  unsigned ExpressionBegin = 0;
};

} // namespace

bool FramePlan::isPure(const Expr *E) const {
  if (!E)
    return false;
  E = E->IgnoreParens();
  if (const auto *Reference = dyn_cast<DeclRefExpr>(E)) {
    const auto *V = dyn_cast<VarDecl>(Reference->getDecl());
    if (!V)
      return true; // an enumerator or a function
    if (builtinVariable(V) || Pure.count(V) || V->isConstexpr())
      return true;
    return !V->hasLocalStorage() && V->getType().isConstQualified();
  }
  if (isa<IntegerLiteral, FloatingLiteral, CharacterLiteral, CXXBoolLiteralExpr, StringLiteral,
          CXXNullPtrLiteralExpr, UnaryExprOrTypeTraitExpr, ImplicitValueInitExpr, GNUNullExpr,
          SubstNonTypeTemplateParmExpr, CXXScalarValueInitExpr>(E))
    return true;
  if (const auto *Unary = dyn_cast<UnaryOperator>(E); Unary && Unary->isIncrementDecrementOp())
    return false;
  if (const auto *Unary = dyn_cast<UnaryOperator>(E); Unary && Unary->getOpcode() == UO_Deref)
    return false;
  if (const auto *Binary = dyn_cast<BinaryOperator>(E); Binary && Binary->isAssignmentOp())
    return false;
  if (const auto *Member = dyn_cast<MemberExpr>(E); Member && Member->isArrow())
    return false;
  if (const auto *Construct = dyn_cast<CXXConstructExpr>(E);
      Construct && !Construct->getConstructor()->isTrivial() &&
      !Construct->getConstructor()->isConstexpr() && !isa<CXXTemporaryObjectExpr>(E) &&
      !builtinVariable(Construct->getConstructor()->getParent()))
    return false;
  if (const auto *Call = dyn_cast<CallExpr>(E); Call && !isPureCall(Call))
    return false;
  // threadIdx.x is a property: a call behind a MemberExpr or a PseudoObjectExpr.
  if (const auto *Pseudo = dyn_cast<PseudoObjectExpr>(E))
    return isPure(Pseudo->getSyntacticForm());
  if (const auto *Property = dyn_cast<MSPropertyRefExpr>(E))
    return isPure(Property->getBaseExpr());
  if (const auto *Opaque = dyn_cast<OpaqueValueExpr>(E))
    return isPure(Opaque->getSourceExpr());
  if (const auto *Default = dyn_cast<CXXDefaultArgExpr>(E))
    return isPure(Default->getExpr());
  if (!isa<CastExpr, UnaryOperator, BinaryOperator, ConditionalOperator, MemberExpr, InitListExpr,
           CXXConstructExpr, CallExpr, MaterializeTemporaryExpr, ExprWithCleanups, ConstantExpr,
           CXXBindTemporaryExpr>(E))
    return false;
  return llvm::all_of(E->children(), [&](const Stmt *Child) {
    return !Child || (isa<Expr>(Child) && isPure(cast<Expr>(Child)));
  });
}

FrameVariable *FramePlan::find(const Locations &Where, const VarDecl *Written) {
  auto Found = Variables.find(placeOf(Where, Written));
  return Found == Variables.end() ? nullptr : &Found->second;
}

/// A place that an equally large value has at other points, else a new one. Values of different
/// sizes never share: one thread may save the one while another has yet to read the other, and
/// where their sizes differ, they are not each its own.
unsigned FramePlan::place(std::vector<Slot> &Slots, unsigned &Size, unsigned Bytes,
                          const std::vector<bool> &LiveAt) {
  auto Clashes = [&](const Slot &S) {
    for (size_t I = 0; I < LiveAt.size(); ++I)
      if (LiveAt[I] && S.LiveAt[I])
        return true;
    return false;
  };
  for (Slot &S : Slots)
    if (S.Bytes == Bytes && !Clashes(S)) {
      for (size_t I = 0; I < LiveAt.size(); ++I)
        S.LiveAt[I] = S.LiveAt[I] || LiveAt[I];
      return S.Offset;
    }
  unsigned End = Slots.empty() ? 0 : Slots.back().Offset + Slots.back().Bytes;
  unsigned Offset = unsigned(llvm::alignTo(End, std::clamp(Bytes, 1u, 16u)));
  Slots.push_back({Offset, Bytes, LiveAt});
  Size = unsigned(llvm::alignTo(Offset + Bytes, 16));
  return Offset;
}

unsigned FramePlan::addTemporary(unsigned Bytes, const SplitFunction &F, unsigned First,
                                 unsigned Last) {
  std::vector<bool> LiveAt(PointCount);
  for (size_t I = 0; I < F.Points.size(); ++I)
    LiveAt[I] = First <= F.Points[I].First && F.Points[I].Last <= Last;
  return place(ThreadSlots, Own.Thread, slotBytes(Bytes), LiveAt);
}

/// Whether `T x;` does something: a constructor of T, or of what it has, may be more than nothing.
static bool isConstructed(const VarDecl *V) {
  const auto *Construct = dyn_cast_or_null<CXXConstructExpr>(
      V->getInit() ? V->getInit()->IgnoreUnlessSpelledInSource() : nullptr);
  return Construct && !Construct->getConstructor()->isTrivial();
}

class FramePlanner {
public:
  using Refusal = llvm::function_ref<void(SourceLocation, DiagId, std::vector<std::string>)>;
  FramePlanner(const Pass &Code, const ScopeResult &Scopes, const SplitFunction &F, Refusal Refuse)
      : Code(Code), Scopes(Scopes), Where(Code), F(F), Refuse(Refuse), Uses(Code), IntoShared(Code),
        Around(Code) {}

  std::optional<FramePlan> plan() {
    for (const FunctionDecl *Instance : F.Instances) {
      Uses.add(Instance);
      IntoShared.add(Instance);
    }
    Around.TraverseStmt(F.Written->getBody());
    Plan.PointCount = F.Points.size();
    for (const ParmVarDecl *Parameter : F.Written->parameters())
      add(Parameter, {0, ~0u});
    for (auto &[Variable, Range] : Around.Variables)
      add(Variable, Range);
    allocate();
    findExits();
    findSharedArguments();
    return Good ? std::optional(std::move(Plan)) : std::nullopt;
  }

private:
  void add(const VarDecl *Written, Extents::Range Range);
  void classify(FrameVariable &V, const VariableUses &Of);
  void findLiveness(FrameVariable &V, const VariableUses &Of);
  bool canBeCopied(const VarDecl *Written, QualType Type);
  unsigned sizeOf(QualType Type) const {
    return unsigned(Code.context().getTypeSizeInChars(Type).getQuantity());
  }
  void allocate();
  void findExits();
  unsigned at(const SuspensionPoint &Point) const { return Point.Name.Begin.Offset; }

  bool isUniform(const FrameVariable &V) const;
  void checkPointer(const FrameVariable &V);
  void findSharedArguments();

  const Pass &Code;
  const ScopeResult &Scopes;
  Locations Where;
  const SplitFunction &F;
  Refusal Refuse;
  FunctionVariables Uses;
  SharedPointers IntoShared;
  Extents Around;
  FramePlan Plan;
  bool Good = true;
};

void FramePlanner::add(const VarDecl *Written, Extents::Range Range) {
  const VariableUses *Of = Uses.find(Written);
  if (!Of || Of->Instances.empty())
    return; // in a branch that no instantiation has
  FrameVariable V;
  V.Written = Written;
  V.Example = Of->Instances.front();
  V.Constructed = llvm::any_of(Of->Instances, isConstructed);
  V.DeclaredAt = Range.Begin;
  V.ScopeEnd = Range.End;
  V.LiveAt.resize(F.Points.size());
  findLiveness(V, *Of);
  classify(V, *Of);
  if (V.How == Keeping::Passed || V.How == Keeping::Recomputed) {
    Plan.Pure.insert(V.Written);
    Plan.Pure.insert(Of->Instances.begin(), Of->Instances.end());
  }
  checkPointer(V);
  Plan.Variables[placeOf(Where, Written)] = std::move(V);
}

void FramePlanner::checkPointer(const FrameVariable &V) {
  if (!V.inFrame() || V.How == Keeping::Shared || !IntoShared.mayPoint(V.Written))
    return;
  Good = false;
  Refuse(V.Written->getLocation(), DiagId::split_shared_pointer, {V.Written->getNameAsString()});
}

void FramePlanner::findSharedArguments() {
  struct Finder : DynamicRecursiveASTVisitor {
    std::map<Position, const CallExpr *> Calls;
    const Locations &Where;
    explicit Finder(const Locations &Where) : Where(Where) {}
    bool VisitCallExpr(CallExpr *E) override {
      Calls[Where.position(nameLocation(E->getCallee()->IgnoreParenImpCasts()))] = E;
      return true;
    }
  };
  for (const FunctionDecl *Instance : F.Instances) {
    Finder Found(Where);
    Found.TraverseStmt(Instance->getBody());
    for (size_t I = 0; I < F.Points.size(); ++I) {
      auto Call = Found.Calls.find(F.Points[I].Name.Begin);
      if (!F.Points[I].Callee || Call == Found.Calls.end())
        continue;
      for (unsigned J = 0; J < Call->second->getNumArgs(); ++J)
        if (IntoShared.mayPoint(Call->second->getArg(J)))
          Plan.SharedArguments.push_back({I, J});
    }
  }
}

void FramePlanner::findLiveness(FrameVariable &V, const VariableUses &Of) {
  auto InPlan = [&](size_t I) {
    unsigned Point = at(F.Points[I]);
    if (Point < V.DeclaredAt || Point > V.ScopeEnd)
      return false;
    unsigned From = std::min(Point, Around.FullExpression.lookup(F.Points[I].Call));
    for (unsigned Use : Of.At)
      if (Use >= From)
        return true;
    for (const Extents::Range &Loop : Around.Loops)
      if (Loop.Begin <= Point && Point <= Loop.End && V.DeclaredAt < Loop.Begin)
        for (unsigned Use : Of.At)
          if (Loop.Begin <= Use && Use <= Loop.End)
            return true;
    return false;
  };
  for (size_t I = 0; I < F.Points.size(); ++I)
    V.LiveAt[I] = InPlan(I);
}

static bool bindsLvalue(const VarDecl *V) {
  return V->getType()->isReferenceType() && V->getInit() && V->getInit()->isGLValue() &&
         !isa<MaterializeTemporaryExpr>(V->getInit()->IgnoreParenImpCasts()) &&
         !isa<ExprWithCleanups>(V->getInit());
}

void FramePlanner::classify(FrameVariable &V, const VariableUses &Of) {
  const VarDecl *E = V.Example;
  bool Live = llvm::is_contained(V.LiveAt, true);
  bool InScope = llvm::any_of(F.Points, [&](const SuspensionPoint &Point) {
    return V.DeclaredAt <= at(Point) && at(Point) <= V.ScopeEnd;
  });
  if (E->hasAttr<CUDASharedAttr>()) {
    V.Dynamic = E->getStorageClass() == SC_Extern;
    V.How = Live ? Keeping::Shared : Keeping::Dead;
    Plan.DynamicShared |= V.Dynamic && Live;
    V.Why = "its block's threads share it";
    for (const VarDecl *Instance : Of.Instances)
      if (!V.Dynamic)
        V.Bytes = std::max(V.Bytes, slotBytes(sizeOf(Instance->getType())));
    return;
  }
  bool IsParameter = isa<ParmVarDecl>(E);
  bool Addressed = Of.AddressTaken || Of.Decays;
  QualType Type = E->getType();
  if (E->isStaticLocal() || E->isConstexpr()) {
    V.How = Keeping::Recomputed;
    return;
  }
  if (IsParameter && F.Kernel && !Of.Modified && !Addressed) {
    V.How = Keeping::Passed;
    return;
  }
  if (!Live && !(Addressed && InScope)) {
    // An array that cannot be filled again needs memory that is not.
    bool Filled = Type->isArrayType() && E->getInit() && !Plan.isPure(E->getInit()) &&
                  !isa<DecompositionDecl>(E);
    V.How = Filled && InScope ? Keeping::Resident : Keeping::Dead;
    V.Bytes = Filled ? slotBytes(sizeOf(Type) + extraBytes(Type)) : 0;
    if (Filled)
      std::fill(V.LiveAt.begin(), V.LiveAt.end(), true);
    if (InScope && !IsParameter && !Type->isReferenceType())
      canBeCopied(V.Written, Type);
    return;
  }
  if (bindsLvalue(E) || (IsParameter && Type->isReferenceType())) {
    V.How = Keeping::Reference;
    V.Bytes = 8;
    V.Why = "what it is bound to is known only when it is declared";
    return;
  }
  if (!IsParameter && !Of.Modified && !Addressed && E->getInit() && Plan.isPure(E->getInit())) {
    V.How = Keeping::Recomputed;
    return;
  }
  // An array cannot be given a value where it is declared but by its initializer.
  bool FilledAgain = Type->isArrayType() && E->getInit() && !Plan.isPure(E->getInit()) &&
                     !isa<DecompositionDecl>(E);
  V.How = Addressed || FilledAgain ? Keeping::Resident : Keeping::Spilled;
  V.Why = Of.AddressTaken ? "its address is taken"
          : Of.Decays     ? "it is used as a pointer"
          : Of.Modified   ? "it is changed"
                          : "its value cannot be computed again";
  if (V.How == Keeping::Resident) // wherever a pointer to it may be used
    for (size_t I = 0; I < F.Points.size(); ++I)
      V.LiveAt[I] = V.DeclaredAt <= at(F.Points[I]) && at(F.Points[I]) <= V.ScopeEnd;
  for (const VarDecl *Instance : Of.Instances) {
    QualType Value = Instance->getType().getNonReferenceType();
    if (canBeCopied(V.Written, Value))
      V.Bytes = std::max(V.Bytes, slotBytes(sizeOf(Value) + extraBytes(Value)));
  }
  V.Uniform = V.How == Keeping::Spilled && isUniform(V);
}

/// At all points at which it is saved.
bool FramePlanner::isUniform(const FrameVariable &V) const {
  const auto &Sources = Code.sources();
  SourceLocation Declared = Sources.getFileLoc(V.Written->getLocation());
  for (size_t I = 0; I < F.Points.size(); ++I) {
    if (!V.LiveAt[I])
      continue;
    if (SplitFunction::single(F.Points[I])) // the others go on before its values are read
      return false;
    const Expr *Callee = F.Points[I].Call->getCallee()->IgnoreParenImpCasts();
    auto Found = Scopes.Uniform.find(Sources.getFileLoc(nameLocation(Callee)));
    if (Found == Scopes.Uniform.end() || !Found->second.count(Declared))
      return false;
  }
  return !isa<DecompositionDecl>(V.Written);
}

bool FramePlanner::canBeCopied(const VarDecl *Written, QualType Type) {
  if (Type->isVariableArrayType() || Type.isTriviallyCopyableType(Code.context()))
    return true;
  const auto *Record = Type->getAsCXXRecordDecl();
  if (Record && Record->isLambda()) // captures are checked by their own types
    return true;
  Good = false;
  Refuse(Written->getLocation(), DiagId::split_type,
         {Written->getNameAsString(), Type.getAsString(Code.context().getPrintingPolicy())});
  return false;
}

void FramePlanner::allocate() {
  std::vector<FrameVariable *> All;
  for (auto &[Place, V] : Plan.Variables)
    if (V.inFrame() && !V.Dynamic)
      All.push_back(&V);
  llvm::stable_sort(All, [](auto *A, auto *B) { return A->Bytes > B->Bytes; });
  for (FrameVariable *V : All) {
    if (V->How == Keeping::Shared) {
      V->Offset = Plan.Own.Block;
      Plan.Own.Block += unsigned(llvm::alignTo(V->Bytes, 16));
    } else if (V->Uniform) {
      V->Offset = Plan.place(Plan.UniformSlots, Plan.Own.Uniform, V->Bytes, V->LiveAt);
    } else {
      V->Offset = Plan.place(Plan.ThreadSlots, Plan.Own.Thread, V->Bytes, V->LiveAt);
    }
  }
}

/// A return behind the last point, outside of loops with points, ends nothing early.
void FramePlanner::findExits() {
  if (!F.Kernel)
    return;
  Plan.Exits = F.Single; // while one thread is in its call, the others suspend without it
  for (unsigned Return : Around.Returns) {
    for (const SuspensionPoint &Point : F.Points) {
      bool Before = Return < at(Point);
      for (const Extents::Range &Loop : Around.Loops)
        Before |= Loop.Begin <= Return && Return <= Loop.End && Loop.Begin <= at(Point) &&
                  at(Point) <= Loop.End;
      Plan.Exits |= Before;
    }
  }
}

std::optional<FramePlan> planFrame(const Pass &Code, const ScopeResult &Scopes,
                                   const SplitFunction &Function, FramePlanner::Refusal Refuse) {
  return FramePlanner(Code, Scopes, Function, Refuse).plan();
}

} // namespace gmpi::translate
