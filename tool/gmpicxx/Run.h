// Runs a plan: prints commands where asked, stops at the first that fails, finishes dependency
// files.
#ifndef GMPI_TOOL_GMPICXX_RUN_H
#define GMPI_TOOL_GMPICXX_RUN_H

#include "Plan.h"

namespace gmpi {

/// The exit status for main: 0, or 1 once something failed (and then it has been said).
int runPlan(const Plan &Plan, bool Print, bool Execute);

} // namespace gmpi

#endif
