// Which nonblocking calls, MPI_Sends, MPI_Recvs and waits of grid scope are followed: the runtime
// may leave such a call to the next one, so that the blocks of the grid meet once for all of them.
// Where a loop or a condition with such calls ends, and none is sure to come at once, what has been
// left is made: a making.
//
// Invariant: from just behind a followed call, every path of its function comes to a making, or to
// another call of grid scope that takes what was left, and nothing on the way waits for anybody,
// calls what is not known to end soon, goes round, or touches memory that other threads may touch:
// that the blocks do not meet at the call makes no difference. What cannot be shown is not
// followed.
#pragma once

#include "ScopeAnalysis.h"

namespace gmpi::translate {

/// Sets ScopedCall::Followed, of a template's calls where it holds in all instantiations, and
/// Specialisation::Makings.
void findFollowedCalls(clang::ASTContext &Context, ScopeResult &Scopes);

} // namespace gmpi::translate
