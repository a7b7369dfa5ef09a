// What the output depends on, as Make and Ninja read it.
#pragma once

#include "../Options.h"
#include "../parse/SourceFiles.h"
#include <string>

namespace gmpi::translate {

/// `out.cu: in.cu header.h`: the user's files, without system headers.
std::string depfile(const Options &Options, const SourceFiles &Files);

} // namespace gmpi::translate
