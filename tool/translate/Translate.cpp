// The steps of a translation, in order; each tells its own errors and stops the rest.
#include "Translate.h"
#include "emit/Depfile.h"
#include "emit/Lint.h"
#include "emit/Output.h"
#include "lower/Lowering.h"
#include "lower/split/Split.h"
#include "report/Report.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

namespace gmpi::translate {

namespace {

/// What the scope analysis says goes to the same place as everything else.
class SinkForScopes final : public ScopeDiagnosticSink {
public:
  explicit SinkForScopes(const Pass &P) : P(P) {}
  void report(clang::SourceLocation Loc, llvm::StringRef Id,
              llvm::ArrayRef<std::string> Arguments) override {
    P.diagnostics().report(Id, Loc, Arguments);
  }

private:
  const Pass &P;
};

bool checkInput(const Options &Options, DiagnosticLog &Log) {
  auto Text = llvm::MemoryBuffer::getFile(Options.Input);
  if (!Text) {
    reportWithoutSource(Log, DiagId::cannot_read, {Options.Input, Text.getError().message()});
    return false;
  }
  if ((*Text)->getBuffer().starts_with("// Translated by gmpi-translate ")) {
    reportWithoutSource(Log, DiagId::already_translated, {Options.Input});
    return false;
  }
  bool Same = false;
  if (!llvm::sys::fs::equivalent(Options.Input, Options.Output, Same) && Same) {
    reportWithoutSource(Log, DiagId::cannot_write, {Options.Output, "it is the input"});
    return false;
  }
  return true;
}

std::optional<CompilerFlags> readFlags(const Options &Options, DiagnosticLog &Log) {
  return Options.BuildPath.empty() ? adjustFlags(Options.Flags, /*Command=*/false, Log)
                                   : flagsFromDatabase(Options.BuildPath, Options.Input, Log);
}

/// The cpu device compiles device code as the host sees it. A call that only the GPU's view has
/// would silently be lost.
void checkArchDependence(const Pass &Gpu, const Model &GpuModel, const Pass &Host,
                         const Model &HostModel) {
  std::set<Position> Kept;
  for (const MpiCall &Call : HostModel.MpiCalls)
    Kept.insert(Locations(Host).position(Call.NameLoc));
  for (const MpiCall &Call : GpuModel.MpiCalls)
    if (!Kept.count(Locations(Gpu).position(Call.NameLoc)))
      Gpu.diagnostics().report(DiagId::arch_dependent_call, Locations(Gpu).shown(Call.NameLoc),
                               {Call.Function});
}

bool lowerAndWrite(const Options &Options, const CompilerFlags &Flags, const Pass &Gpu,
                   const Pass &Host, const SourceFiles &Files, DiagnosticLog &Log) {
  Model GpuModel = buildModel(Gpu), HostModel = buildModel(Host);
  bool Cpu = Options.Target == Device::Cpu;
  if (Cpu)
    checkArchDependence(Gpu, GpuModel, Host, HostModel);
  if (Log.hasErrors())
    return false;
  const Pass &Code = Cpu ? Host : Gpu;
  SinkForScopes Sink(Code);
  auto Scopes = analyzeScopes(Code.context(), Code.pragmas(), Sink);
  if (!Scopes || Log.hasErrors())
    return false;
  Edits Changes;
  Lowering L{Options, Code, Host, Cpu ? HostModel : GpuModel, HostModel, *Scopes, Changes,
             {},      {},   {}};
  std::optional<SplitLowering> Split;
  if (Options.Split)
    Split.emplace(L).lower();
  lowerKernels(L);
  lowerCalls(L);
  lowerLaunches(L);
  if (Cpu)
    lowerForCpu(L);
  OutputFiles Output = composeOutput(L, Files);
  if (auto Overlap = Changes.conflict())
    reportWithoutSource(Log, DiagId::passes_disagree,
                        {Overlap->File->Path + ":" + std::to_string(Overlap->line())});
  if (!Log.hasErrors() && !Changes.files().empty())
    lint(Options, Flags, Output, Log);
  if (Log.hasErrors())
    return false;
  if (!Options.Report.empty())
    Output[Options.Report] = jsonReport(L);
  if (!Options.Depfile.empty())
    Output[Options.Depfile] = depfile(Options, Files);
  if (!writeFiles(Output, Log))
    return false;
  if (Options.Remarks)
    printRemarks(L);
  return true;
}

} // namespace

bool translate(const Options &Options) {
  DiagnosticLog Log;
  if (!checkInput(Options, Log))
    return false;
  auto Flags = readFlags(Options, Log);
  if (!Flags)
    return false;
  SourceFiles Files;
  auto Gpu = parse(Options, *Flags, Side::Gpu, Files, Log);
  auto Host = Gpu ? parse(Options, *Flags, Side::Host, Files, Log) : nullptr;
  return Host && lowerAndWrite(Options, *Flags, *Gpu, *Host, Files, Log);
}

} // namespace gmpi::translate
