// Conditions that select one thread (or one block): `threadIdx.x == 0`, `blockIdx.x * blockDim.x +
// threadIdx.x == 0`, `grid.thread_rank() == 0`, and what is made of such by && || ! and variables.
//
// What is assumed: a kernel that never uses threadIdx.y is launched with one thread in y; likewise
// z, and blockIdx.y and z. So `threadIdx.x == 0` selects one thread of each block where neither
// threadIdx.y nor threadIdx.z is used.
#pragma once

#include "Lattice.h"
#include <optional>

namespace gmpi::translate {

/// What is known of an expression that was evaluated.
using ValueOf = llvm::function_ref<Value(const clang::Expr *)>;

/// `threadIdx.x` and `blockDim.x`: the part of a component; 0 if it is none of x, y, z.
unsigned indexPart(llvm::StringRef Component, bool OfThread);

/// The shape of a sum, product or bitwise or.
IndexShape shapeOf(const clang::BinaryOperator *E, const Value &Left, const Value &Right);
/// The shape that an integer keeps when it is converted.
IndexShape convertedShape(const IndexShape &Shape, clang::QualType From, clang::QualType To,
                          const clang::ASTContext &Context);

/// The index parts that have one value for all threads for which a condition holds, at a time.
struct Selection {
  unsigned Fixed = 0;
  unsigned Zero = 0; ///< those of them that are zero, so always the same
};
Selection selectedParts(const clang::Expr *Condition, bool Truth, ValueOf Values,
                        const clang::ASTContext &Context);
/// The comparisons `Index == Other` that hold where the condition is `Truth`, by the parts that
/// they fix, other than to zero. Variables that are only read stand for their initializers.
void selectingComparisons(
    const clang::Expr *Condition, bool Truth, ValueOf Values, const clang::FunctionDecl *In,
    llvm::function_ref<void(unsigned Parts, const clang::BinaryOperator *)> Visit);
/// The expression in terms of what is the same whenever the kernel evaluates it: constants, the
/// kernel's parameters and CUDA's variables. Nothing if it is not made of these alone.
std::optional<std::string> invariantText(const clang::Expr *E, const clang::FunctionDecl *In);

/// Whether the fixed parts leave one thread of each block; one block of the grid.
bool selectsOneThread(unsigned Fixed, unsigned UsedParts);
bool selectsOneBlock(unsigned Fixed, unsigned UsedParts);

} // namespace gmpi::translate
