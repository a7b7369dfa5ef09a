// The translator's one way through: parse, model, analyze, lower, emit, report.
#pragma once

#include "Options.h"

namespace gmpi::translate {

/// False, with nothing written and every reason told, where the input cannot be translated.
bool translate(const Options &Options);

} // namespace gmpi::translate
