// The steps of a translation, in order; each tells its own errors and stops the rest.
#include "Translate.h"
#include "parse/Parse.h"

namespace gmpi::translate {

bool translate(const Options &Options) {
  DiagnosticLog Log;
  auto Flags = Options.BuildPath.empty()
                   ? adjustFlags(Options.Flags, /*Command=*/false, Log)
                   : flagsFromDatabase(Options.BuildPath, Options.Input, Log);
  if (!Flags)
    return false;
  SourceFiles Files;
  auto Gpu = parse(Options, *Flags, Side::Gpu, Files, Log);
  auto Host = Gpu ? parse(Options, *Flags, Side::Host, Files, Log) : nullptr;
  return Host != nullptr;
}

} // namespace gmpi::translate
