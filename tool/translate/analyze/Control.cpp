// The fixpoint over one function's control flow graph: states flow along the edges, conditions make
// control and joins varying, until nothing changes.
#include "Interpreter.h"

namespace gmpi::translate {

using clang::CFGBlock;

Interpreter::Interpreter(Engine &Shared, const Context &Call, const Body &Of)
    : Shared(Shared), In(Call), Of(Of), Result(std::make_shared<Run>()), Ends(Of.Blocks.size()),
      Begins(Of.Blocks.size()), StoredIn(Of.Blocks.size()), Branches(Of.Blocks.size()),
      Controls(Of.Blocks.size()) {
  Result->Function = Call.Function;
  const auto *Method = llvm::dyn_cast<clang::CXXMethodDecl>(Call.Function);
  if (Method && Method->getParent()->isLambda())
    Method->getParent()->getCaptureFields(Captures, ThisCapture);
}

std::shared_ptr<const Run> Interpreter::interpret() {
  for (bool Changed = true; Changed;) {
    Changed = false;
    for (unsigned Block : Of.Flow->order())
      Changed |= visit(Block);
    Changed |= updateBranches();
  }
  // Once more with everything still: the verdicts are of this pass.
  for (unsigned Block : Of.Flow->order())
    visit(Block);
  unsigned Exit = Of.Graph->getExit().getBlockID();
  Result->Exit = Ends[Exit];
  std::set<Place> Stored;
  for (const auto &Places : StoredIn)
    Stored.insert(Places.begin(), Places.end());
  Result->Stored.assign(Stored.begin(), Stored.end());
  return Result;
}

/// True if what holds at the block's begin or end, or what it stores to, is not as it was.
bool Interpreter::visit(unsigned Block) {
  CurrentBlock = Block;
  size_t StoresBefore = StoredIn[Block].size();
  bool Changed = Begins[Block].joinWith(entryOf(Block));
  if (!Begins[Block].Reached)
    return Changed;
  Now = Begins[Block];
  Controls[Block] = controlOf(Block);
  for (const clang::CFGElement &Element : *Of.Blocks[Block])
    evaluate(Element);
  Changed |= Ends[Block].joinWith(Now);
  return Changed || StoredIn[Block].size() != StoresBefore;
}

State Interpreter::entryOf(unsigned Block) const {
  if (Block == Of.Graph->getEntry().getBlockID())
    return In.Entry;
  State At;
  for (const CFGBlock::AdjacentBlock &From : Of.Blocks[Block]->preds())
    if (From)
      At.joinWith(Ends[From->getBlockID()]);
  if (!At.Reached)
    return At;
  for (unsigned Left : Of.Flow->leavingBeside(Block))
    At.joinAccesses(Ends[Left]);
  joinPaths(Block, At);
  return At;
}

/// Where threads come from different sides of a branch, what was stored on the way differs as much
/// as the branch's condition does.
void Interpreter::joinPaths(unsigned Block, State &At) const {
  for (unsigned Branch : Of.Flow->order()) {
    const Value &Condition = Branches[Branch];
    if (Condition.Level == Scope::Grid)
      continue;
    for (const DivergentJoin &Join : Of.Flow->joins(Branch))
      if (Join.Block == Block)
        for (unsigned From : Join.Stores.set_bits())
          for (const Place &Stored : StoredIn[From])
            At.Memory.lower(Stored, Condition.Level, Condition.Why);
  }
}

const clang::Expr *Interpreter::conditionOf(unsigned Block) const {
  if (!Of.Flow->isBranch(Block))
    return nullptr;
  const CFGBlock &B = *Of.Blocks[Block];
  if (const auto *Switch = llvm::dyn_cast_if_present<clang::SwitchStmt>(B.getTerminatorStmt()))
    return Switch->getCond();
  if (const clang::Expr *Last = B.getLastCondition())
    return Last;
  return llvm::dyn_cast_if_present<clang::Expr>(B.getTerminatorCondition());
}

/// The levels of the conditions, and through them of the blocks. True if any changed.
bool Interpreter::updateBranches() {
  bool Changed = false;
  for (unsigned Branch : Of.Flow->order()) {
    const clang::Expr *E = conditionOf(Branch);
    if (!Of.Flow->isBranch(Branch) || !Begins[Branch].Reached)
      continue;
    Value New;
    if (E) {
      Value Known = Values.lookup(E);
      if (Known.Level == Scope::Grid)
        continue;
      const clang::Expr *Differing = culprit(E, Known.Level);
      Cause Why{
          E->getBeginLoc(), "`" + Shared.text(E) + "`", "", !Known.Why || Known.Why->Proven, "",
          Known.Why};
      if (const auto *Name = llvm::dyn_cast_if_present<clang::DeclRefExpr>(Differing))
        Why.Variable = Name->getDecl()->getNameAsString();
      New = Value::varying(Known.Level, Shared.Why.get(std::move(Why)));
    } else {
      // A branch without a condition to look at (an indirect goto).
      Cause Why{Of.Blocks[Branch]->getTerminatorStmt()
                    ? Of.Blocks[Branch]->getTerminatorStmt()->getBeginLoc()
                    : In.Function->getLocation(),
                "a jump", "whose target is not known", false};
      if (llvm::isa_and_present<clang::IndirectGotoStmt>(Of.Blocks[Branch]->getTerminatorStmt()))
        New = Value::varying(Scope::Thread, Shared.Why.get(std::move(Why)));
    }
    if (!Branches[Branch].sameAs(New)) {
      Branches[Branch].joinWith(New);
      Changed = true;
    }
  }
  for (unsigned Block : Of.Flow->order()) {
    Control New = controlOf(Block);
    Changed |= New.Level != Controls[Block].Level || New.Fixed != Controls[Block].Fixed ||
               New.Zero != Controls[Block].Zero || New.Named != Controls[Block].Named;
    Controls[Block] = New;
  }
  return Changed;
}

Control Interpreter::controlOf(unsigned Block) const {
  Control At = In.At;
  for (unsigned Branch : Of.Flow->controllers(Block)) {
    lowerLevel(At.Level, At.Why, Branches[Branch].Level, Branches[Branch].Why);
    lowerLevel(At.Level, At.Why, Controls[Branch].Level, Controls[Branch].Why);
  }
  for (const ControlEdge &Edge : Of.Flow->edgesBefore(Block)) {
    const clang::Expr *Condition = conditionOf(Edge.Branch);
    const clang::Stmt *Terminator = Of.Blocks[Edge.Branch]->getTerminatorStmt();
    if (!Condition || llvm::isa_and_present<clang::SwitchStmt>(Terminator))
      continue;
    auto ValueOf = [this](const clang::Expr *E) { return Values.lookup(E); };
    bool Truth = Edge.Successor == 0;
    Selection Selected = selectedParts(Condition, Truth, ValueOf, Shared.Ast);
    At.Fixed |= Selected.Fixed;
    At.Zero |= Selected.Zero;
    selectingComparisons(
        Condition, Truth, ValueOf, In.Function,
        [&](unsigned Parts, const clang::BinaryOperator *Comparison) {
          auto Left = invariantText(Comparison->getLHS(), In.Function);
          auto Right = invariantText(Comparison->getRHS(), In.Function);
          if (Left && Right)
            At.Named[Parts] = *Left + " == " + *Right;
        });
  }
  return At;
}

} // namespace gmpi::translate
