// What follows from a branch that threads take differently: which blocks run for some of them only
// (control dependence), where their paths meet again with different values (joins), and which
// conditions certainly held on the way to a block. Facts of the control flow graph alone.
//
// Threads that leave for good (a `return` of a kernel with no MPI call or barrier before it on that
// path, a call that does not return) make nothing varying: they leave their group.
#pragma once

#include "clang/Analysis/CFG.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <vector>

namespace gmpi::translate {

/// Paths from one branch meet in `Block`; what was stored in the blocks of `Stores` differs there.
struct DivergentJoin {
  unsigned Block;
  llvm::BitVector Stores;
};

/// A way out of a branch that every path to some block takes.
struct ControlEdge {
  unsigned Branch;
  unsigned Successor; ///< position among the branch's successors
};

class Divergence {
public:
  /// `Synchronises` says of a block whether it contains an MPI call or a barrier.
  Divergence(const clang::CFG &Graph, const clang::FunctionDecl *Function, bool IsKernel,
             llvm::function_ref<bool(const clang::CFGBlock &)> Synchronises);

  /// Branches on which it depends, directly, whether threads reach the block.
  const std::vector<unsigned> &controllers(unsigned Block) const { return Controllers[Block]; }
  /// Where paths from the branch meet, if threads take it differently.
  const std::vector<DivergentJoin> &joins(unsigned Branch) const { return Joins[Branch]; }
  /// The edges that every path from the entry to the block takes.
  const std::vector<ControlEdge> &edgesBefore(unsigned Block) const { return Edges[Block]; }
  /// Blocks on which threads leave for good that were with the block's own threads until just
  /// before it: what they store, the others may see.
  const std::vector<unsigned> &leavingBeside(unsigned Block) const { return LeavingBeside[Block]; }
  /// Reverse post-order from the entry; blocks that cannot be reached are not in it.
  const std::vector<unsigned> &order() const { return Order; }
  bool isBranch(unsigned Block) const { return Successors[Block].size() > 1; }

private:
  class Labels;
  struct Loop {
    unsigned Header;
    llvm::BitVector Blocks;
  };
  using Adjacency = std::vector<llvm::SmallVector<unsigned, 2>>;

  void buildGraph(const clang::CFG &Graph);
  void findOrder();
  void findLeaving(const clang::CFG &Graph, const clang::FunctionDecl *Function, bool IsKernel,
                   llvm::function_ref<bool(const clang::CFGBlock &)> Synchronises);
  Adjacency without(const llvm::BitVector &Removed) const;
  void findControllers(const Adjacency &Pruned, const llvm::BitVector &For);
  void findLoops();
  void findJoins(unsigned Branch);
  void findEdges();
  void findLeavingBeside();
  llvm::BitVector reachableFrom(unsigned Start, const Adjacency &Edges) const;

  unsigned Size, Entry, Exit;
  Adjacency Successors, Predecessors;
  std::vector<unsigned> Order, Position;
  llvm::BitVector LeavesPurely; ///< leaves without synchronising
  llvm::BitVector ReachesEnd;   ///< some path goes on to the end of the body
  bool Reducible = true;
  std::vector<Loop> Loops;
  std::vector<std::vector<unsigned>> Controllers, LeavingBeside;
  std::vector<std::vector<DivergentJoin>> Joins;
  std::vector<std::vector<ControlEdge>> Edges;
};

} // namespace gmpi::translate
