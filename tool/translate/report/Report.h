// What became of every MPI call: for people (--remarks) and for tools (--report).
#pragma once

#include "../lower/Lowering.h"
#include <string>

namespace gmpi::translate {

/// `in.cu:42: MPI_Sendrecv: grid scope, queue: <why>`, one line a call, to stderr.
void printRemarks(const Lowering &L);

std::string jsonReport(const Lowering &L);

} // namespace gmpi::translate
