// The output parsed again, in memory, before it is written: what does not parse is the translator's
// own mistake, and no user should meet it as a compiler's message about text that nobody wrote.
//
// The parse is the input's once more (same flags, same CUDA headers), as the side that sees device code,
// with the runtime's headers, which the translator carries. Bodies of functions that cannot depend on the
// output are skipped.
#pragma once

#include "../parse/Parse.h"
#include "Output.h"

namespace gmpi::translate {

/// Tells of the first error in Output, and how to get on.
void lint(const Options &Options, const CompilerFlags &Flags, const OutputFiles &Output,
          DiagnosticLog &Log);

} // namespace gmpi::translate
