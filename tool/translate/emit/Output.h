// From edits to the output: the translated file, the headers it needs changed, and the includes
// that lead to them.
//
//   out.cu            the main file; byte for byte the input where nothing was to be changed
//   out.cu.d/a/b.h    each changed header, and each header on the way to one
//
// Invariant: nothing is on disk unless everything is: files are written beside their place and then
// renamed.
#pragma once

#include "../lower/Lowering.h"
#include <map>

namespace gmpi::translate {

/// What is to be written, by path.
using OutputFiles = std::map<std::string, std::string>;

/// Adds the edits of #include directives; tells of headers that cannot be replaced.
OutputFiles composeOutput(Lowering &L, const SourceFiles &Files);

/// Writes them all, or none and tells why.
bool writeFiles(const OutputFiles &Files, DiagnosticLog &Log);

} // namespace gmpi::translate
