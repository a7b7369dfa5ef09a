#include "Divergence.h"
#include "clang/AST/Stmt.h"
#include <algorithm>
#include <map>
#include <set>

namespace gmpi::translate {

using clang::CFGBlock;
using llvm::BitVector;

Divergence::Divergence(const clang::CFG &Graph, const clang::FunctionDecl *Function, bool IsKernel,
                       llvm::function_ref<bool(const CFGBlock &)> Synchronises)
    : Size(Graph.getNumBlockIDs()), Entry(Graph.getEntry().getBlockID()),
      Exit(Graph.getExit().getBlockID()), Successors(Size), Predecessors(Size), Controllers(Size),
      LeavingBeside(Size), Joins(Size), Edges(Size) {
  buildGraph(Graph);
  findOrder();
  findLeaving(Graph, Function, IsKernel, Synchronises);
  // Blocks that go on to the end are reached by those that stayed: no other way out counts. For the
  // rest, the ways out that synchronise count as an end.
  BitVector NotEnding = ReachesEnd;
  NotEnding.flip();
  if (ReachesEnd.any())
    findControllers(without(NotEnding), ReachesEnd);
  findControllers(without(LeavesPurely), NotEnding);
  findLoops();
  for (unsigned Block : Order)
    if (isBranch(Block))
      findJoins(Block);
  findEdges();
  findLeavingBeside();
}

void Divergence::buildGraph(const clang::CFG &Graph) {
  for (const CFGBlock *Block : Graph) {
    auto &To = Successors[Block->getBlockID()];
    for (const CFGBlock *Next : Block->succs())
      if (Next && !llvm::is_contained(To, Next->getBlockID()))
        To.push_back(Next->getBlockID());
  }
}

void Divergence::findOrder() {
  Position.assign(Size, ~0u);
  BitVector Seen(Size);
  std::vector<std::pair<unsigned, unsigned>> Stack{{Entry, 0}};
  Seen.set(Entry);
  while (!Stack.empty()) {
    auto &[Block, Next] = Stack.back();
    if (Next < Successors[Block].size()) {
      unsigned To = Successors[Block][Next++];
      if (!Seen.test(To)) {
        Seen.set(To);
        Stack.push_back({To, 0});
      }
      continue;
    }
    Order.push_back(Block);
    Stack.pop_back();
  }
  std::reverse(Order.begin(), Order.end());
  for (unsigned I = 0; I < Order.size(); ++I)
    Position[Order[I]] = I;
  for (unsigned Block : Order)
    for (unsigned To : Successors[Block])
      Predecessors[To].push_back(Block);
}

namespace {

const clang::Stmt *lastStatement(const CFGBlock &Block) {
  if (Block.empty())
    return nullptr;
  for (const clang::CFGElement &Element : llvm::reverse(Block))
    if (auto Statement = Element.getAs<clang::CFGStmt>())
      return Statement->getStmt();
  return nullptr;
}

/// A `return` that is the last statement of the body is the body's end.
bool isEarlyReturn(const CFGBlock &Block, const clang::FunctionDecl *Function) {
  const auto *Return = llvm::dyn_cast_if_present<clang::ReturnStmt>(lastStatement(Block));
  if (!Return)
    return false;
  const auto *Body = llvm::dyn_cast_if_present<clang::CompoundStmt>(Function->getBody());
  return !Body || Body->body_empty() || Body->body_back() != Return;
}

} // namespace

void Divergence::findLeaving(const clang::CFG &Graph, const clang::FunctionDecl *Function,
                             bool IsKernel,
                             llvm::function_ref<bool(const CFGBlock &)> Synchronises) {
  LeavesPurely.resize(Size);
  ReachesEnd.resize(Size);
  BitVector Leaves(Size), MustSync(Size);
  for (const CFGBlock *Block : Graph) {
    unsigned Id = Block->getBlockID();
    if (Synchronises(*Block))
      MustSync.set(Id);
    bool Gone = Block->hasNoReturnElement() || (IsKernel && isEarlyReturn(*Block, Function));
    if (Gone)
      Leaves.set(Id);
  }
  // Backwards from the end, over paths on which nobody leaves.
  std::vector<unsigned> Open;
  for (unsigned Block : Predecessors[Exit])
    if (!Leaves.test(Block))
      Open.push_back(Block);
  ReachesEnd.set(Exit);
  while (!Open.empty()) {
    unsigned Block = Open.back();
    Open.pop_back();
    if (ReachesEnd.test(Block))
      continue;
    ReachesEnd.set(Block);
    for (unsigned From : Predecessors[Block])
      Open.push_back(From);
  }
  if (ReachesEnd.count() == 1)
    ReachesEnd.reset();
  // Blocks from which every path leaves without synchronising on the way.
  for (bool Changed = true; Changed;) {
    Changed = false;
    for (unsigned Block : Order) {
      if (LeavesPurely.test(Block) || MustSync.test(Block) || Block == Exit)
        continue;
      bool All = Leaves.test(Block) ||
                 (!Successors[Block].empty() && llvm::all_of(Successors[Block], [&](unsigned To) {
                   return LeavesPurely.test(To);
                 }));
      if (All) {
        LeavesPurely.set(Block);
        Changed = true;
      }
    }
  }
}

Divergence::Adjacency Divergence::without(const BitVector &Removed) const {
  Adjacency Rest(Size);
  for (unsigned Block : Order)
    if (!Removed.test(Block))
      for (unsigned To : Successors[Block])
        if (!Removed.test(To))
          Rest[Block].push_back(To);
  return Rest;
}

/// Post-dominator sets by iteration, then control dependence by its definition: a block depends on
/// a branch if it post-dominates one of the branch's successors but not the branch itself.
void Divergence::findControllers(const Adjacency &Pruned, const BitVector &For) {
  BitVector Ends(Size), InGraph(Size);
  for (unsigned Block : Order)
    if (!Pruned[Block].empty())
      InGraph.set(Block);
  for (unsigned Block : Order)
    for (unsigned To : Pruned[Block])
      InGraph.set(To);
  for (unsigned Block : Order)
    if (Pruned[Block].empty() || Block == Exit)
      Ends.set(Block);

  // Loops without an end: one of their blocks stands in for it, the last in order; not one of a
  // loop that only leads there.
  auto EndlessFrom = [&](unsigned Block) {
    for (;;) {
      BitVector After = reachableFrom(Block, Pruned);
      auto Beyond = llvm::find_if(After.set_bits(), [&](unsigned To) {
        return To != Block && !reachableFrom(To, Pruned).test(Block);
      });
      if (Beyond == After.set_bits_end())
        return *std::find_if(Order.rbegin(), Order.rend(),
                             [&](unsigned In) { return In == Block || After.test(In); });
      Block = *Beyond;
    }
  };
  auto ReachEnds = [&] {
    BitVector Found = Ends;
    for (bool Changed = true; Changed;) {
      Changed = false;
      for (unsigned Block : llvm::reverse(Order))
        if (!Found.test(Block) &&
            llvm::any_of(Pruned[Block], [&](unsigned To) { return Found.test(To); })) {
          Found.set(Block);
          Changed = true;
        }
    }
    return Found;
  };
  for (BitVector Found = ReachEnds();; Found = ReachEnds()) {
    auto Lost = std::find_if(Order.rbegin(), Order.rend(),
                             [&](unsigned Block) { return !Found.test(Block); });
    if (Lost == Order.rend())
      break;
    Ends.set(EndlessFrom(*Lost));
  }

  std::vector<BitVector> After(Size, BitVector(Size, true));
  for (bool Changed = true; Changed;) {
    Changed = false;
    for (unsigned Block : llvm::reverse(Order)) {
      BitVector Common(Size, !Ends.test(Block));
      for (unsigned To : Pruned[Block])
        Common &= After[To];
      Common.set(Block);
      if (Common != After[Block]) {
        After[Block] = Common;
        Changed = true;
      }
    }
  }

  for (unsigned Branch : Order) {
    // A loop that only a stand-in ends is left by nobody: its last block is no branch.
    if (Pruned[Branch].size() < 2)
      continue;
    BitVector Dependent(Size);
    for (unsigned To : Pruned[Branch])
      Dependent |= After[To];
    BitVector Always = After[Branch];
    Always.reset(Branch);
    Dependent.reset(Always);
    for (unsigned Block : Dependent.set_bits())
      if (For.test(Block) && Block != Exit && Position[Block] != ~0u)
        Controllers[Block].push_back(Branch);
  }
}

BitVector Divergence::reachableFrom(unsigned Start, const Adjacency &Along) const {
  BitVector Found(Size);
  std::vector<unsigned> Open{Start};
  while (!Open.empty()) {
    unsigned Block = Open.back();
    Open.pop_back();
    for (unsigned To : Along[Block])
      if (!Found.test(To)) {
        Found.set(To);
        Open.push_back(To);
      }
  }
  return Found;
}

/// Natural loops, those of one header merged. A retreating edge to a block that does not dominate
/// its source makes the graph irreducible.
void Divergence::findLoops() {
  std::map<unsigned, BitVector> ByHeader;
  for (unsigned From : Order)
    for (unsigned Header : Successors[From]) {
      if (Position[Header] > Position[From])
        continue;
      BitVector Body(Size);
      Body.set(Header);
      std::vector<unsigned> Open{From};
      while (!Open.empty()) {
        unsigned Block = Open.back();
        Open.pop_back();
        if (Body.test(Block))
          continue;
        Body.set(Block);
        for (unsigned Before : Predecessors[Block])
          Open.push_back(Before);
      }
      // If the header does not dominate, the walk backwards has run into the entry.
      if (Header != Entry && Body.test(Entry))
        Reducible = false;
      auto [Slot, New] = ByHeader.try_emplace(Header, Body);
      if (!New)
        Slot->second |= Body;
    }
  for (auto &[Header, Blocks] : ByHeader)
    Loops.push_back({Header, Blocks});
}

/// Every way out of the branch gets a label of its own, which travels forwards; where two labels
/// meet, paths join. Loops around the branch that some threads leave and others stay in are joins
/// at each of their exits: threads leave them in different iterations.
///
///     A: if (v) ──1──▶ x = 1 ──1──▶ J: two labels, a join: x differs here if v does
///            └──2──────────────2──▶
class Divergence::Labels {
public:
  Labels(const Divergence &Of, unsigned Branch, llvm::function_ref<bool(unsigned)> Alive)
      : Of(Of), Branch(Branch), Alive(Alive), Label(Of.Size, None), Labelled(Of.Size),
        Joined(Of.Size) {}

  std::map<unsigned, BitVector> findJoins() {
    std::map<unsigned, BitVector> Found;
    // A loop exit that becomes a join has a label of its own, which may make further joins.
    do
      propagate();
    while (joinLoopExits(Found));
    for (unsigned Block : Joined.set_bits())
      add(Found, Block, storesBefore(Block));
    return Found;
  }

private:
  static constexpr unsigned None = ~0u;

  static void add(std::map<unsigned, BitVector> &To, unsigned Block, const BitVector &Stores) {
    auto [Slot, New] = To.try_emplace(Block, Stores);
    if (!New)
      Slot->second |= Stores;
  }

  void propagate() {
    std::fill(Label.begin(), Label.end(), None);
    Back.clear();
    Labelled = LoopExits;
    Labelled.resize(Of.Size);
    Joined = Labelled;
    for (unsigned Block : Labelled.set_bits())
      Label[Block] = Block;
    for (unsigned Block : Of.Order)
      for (unsigned To : Of.Successors[Block]) {
        bool FromBranch = Block == Branch;
        if (Alive(To) && (FromBranch || Labelled.test(Block)))
          arrive(Block, To, FromBranch ? To : Label[Block]);
      }
  }

  void arrive(unsigned From, unsigned To, unsigned With) {
    if (Of.Position[To] <= Of.Position[From]) {
      Back[To].push_back(With);
      return;
    }
    Labelled.set(To);
    if (Label[To] == None)
      Label[To] = With;
    else if (Label[To] != With) {
      Label[To] = To;
      Joined.set(To);
    }
  }

  /// True if there are new loop exits among the joins.
  bool joinLoopExits(std::map<unsigned, BitVector> &Found) {
    bool New = false;
    for (const Loop &L : Of.Loops) {
      auto Staying = Back.find(L.Header);
      if (!L.Blocks.test(Branch) || Staying == Back.end())
        continue;
      std::set<unsigned> Seen(Staying->second.begin(), Staying->second.end());
      if (Seen.size() > 1)
        add(Found, L.Header, L.Blocks);
      BitVector Exits(Of.Size);
      for (unsigned Block : L.Blocks.set_bits())
        for (unsigned To : Of.Successors[Block])
          if (!L.Blocks.test(To) && Alive(To)) {
            Exits.set(To);
            if (Block == Branch)
              Seen.insert(To);
            else if (Labelled.test(Block))
              Seen.insert(Label[Block]);
          }
      if (Seen.size() < 2)
        continue;
      for (unsigned To : Exits.set_bits()) {
        add(Found, To, L.Blocks);
        New |= !LoopExits.empty() ? !LoopExits.test(To) : true;
        LoopExits.resize(Of.Size);
        LoopExits.set(To);
      }
    }
    return New;
  }

  /// The labelled blocks that lead to the join.
  BitVector storesBefore(unsigned Join) const {
    BitVector Before(Of.Size);
    std::vector<unsigned> Open{Join};
    while (!Open.empty()) {
      unsigned Block = Open.back();
      Open.pop_back();
      for (unsigned From : Of.Predecessors[Block])
        if (Labelled.test(From) && !Before.test(From)) {
          Before.set(From);
          Open.push_back(From);
        }
    }
    return Before;
  }

  const Divergence &Of;
  unsigned Branch;
  llvm::function_ref<bool(unsigned)> Alive;
  std::vector<unsigned> Label;
  BitVector Labelled, Joined, LoopExits;
  std::map<unsigned, std::vector<unsigned>> Back;
};

void Divergence::findJoins(unsigned Branch) {
  BitVector Reached = reachableFrom(Branch, Successors);
  // Among threads that go on to the end, those that leave before do not matter.
  bool Stays = ReachesEnd.test(Branch);
  auto Alive = [&](unsigned Block) {
    return Stays ? ReachesEnd.test(Block) : !LeavesPurely.test(Block);
  };
  // Where the labels say nothing: whatever meets, differs.
  for (unsigned Block : Reached.set_bits())
    if ((!Reducible || !Alive(Block)) && Predecessors[Block].size() > 1)
      Joins[Branch].push_back({Block, Reached});
  if (Reducible)
    for (auto &[Block, Stores] : Labels(*this, Branch, Alive).findJoins())
      Joins[Branch].push_back({Block, Stores});
}

/// An edge is on every path to a block that cannot be reached without it.
void Divergence::findEdges() {
  for (unsigned Branch : Order) {
    if (!isBranch(Branch))
      continue;
    for (unsigned I = 0; I < Successors[Branch].size(); ++I) {
      Adjacency Rest = Successors;
      Rest[Branch].erase(Rest[Branch].begin() + I);
      BitVector Reached = reachableFrom(Entry, Rest);
      Reached.set(Entry);
      for (unsigned Block : Order)
        if (!Reached.test(Block))
          Edges[Block].push_back({Branch, I});
    }
  }
}

void Divergence::findLeavingBeside() {
  for (unsigned Block : Order) {
    auto Leaves = [&](unsigned Other) {
      return LeavesPurely.test(Other) || (ReachesEnd.test(Block) && !ReachesEnd.test(Other));
    };
    BitVector Found(Size);
    for (unsigned From : Predecessors[Block])
      for (unsigned Other : Successors[From])
        if (Other != Block && Leaves(Other)) {
          Found.set(Other);
          Found |= reachableFrom(Other, Successors);
        }
    for (unsigned Other : Found.set_bits())
      if (Leaves(Other))
        LeavingBeside[Block].push_back(Other);
  }
}

} // namespace gmpi::translate
