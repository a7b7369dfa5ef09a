// The command line, by LLVM's option parser; what follows `--` is kept for the compiler.
#include "Options.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <cstring>

namespace gmpi::translate {

namespace {

namespace cl = llvm::cl;

struct CommandLine {
  cl::OptionCategory Category{"gmpi-translate options"};
  cl::opt<std::string> Input{cl::Positional, cl::Required, cl::desc("<in.cu>"), cl::cat(Category)};
  cl::opt<std::string> Output{"o", cl::Required, cl::value_desc("out.cu"),
                              cl::desc("The translated file"), cl::cat(Category)};
  cl::opt<Device> Target{
      "device", cl::desc("Where kernels run"), cl::init(Device::Cuda),
      cl::values(clEnumValN(Device::Cuda, "cuda", "a GPU, through nvcc (default)"),
                 clEnumValN(Device::Cpu, "cpu", "this machine's processor")),
      cl::cat(Category)};
  cl::list<std::string> Lower{"lower", cl::CommaSeparated, cl::value_desc("queue,split"),
                              cl::desc("How MPI calls are carried out (default: queue); the program "
                                       "has all of these and chooses when it runs"),
                              cl::cat(Category)};
  cl::opt<bool> Remarks{"remarks", cl::desc("Say what became of every MPI call"),
                        cl::cat(Category)};
  cl::opt<std::string> Report{"report", cl::value_desc("F.json"),
                              cl::desc("Write the same as JSON"), cl::cat(Category)};
  cl::opt<std::string> Depfile{"depfile", cl::value_desc("F"),
                               cl::desc("Write what the output depends on, as Make reads it"),
                               cl::cat(Category)};
  cl::opt<std::string> BuildPath{"p", cl::value_desc("DIR"),
                                 cl::desc("Take the flags from DIR/compile_commands.json"),
                                 cl::cat(Category)};
  cl::opt<std::string> CudaPath{
      "cuda-path", cl::value_desc("DIR"),
      cl::desc("Parse with this CUDA toolkit's headers (none: with the translator's own)"),
      cl::cat(Category)};
};

const char Overview[] =
    "Translates CUDA with plain MPI calls in kernels into CUDA that nvcc accepts.\n\n"
    "Flags that nvcc or the host compiler would get follow after --.\n";

bool readLowerings(const cl::list<std::string> &Lower, Options &Result) {
  for (const std::string &Name : Lower)
    if (Name != "queue" && Name != "split") {
      llvm::errs() << "gmpi-translate: there is no lowering '" << Name
                   << "': it may be queue or split\n";
      return false;
    }
  Result.Queue = Lower.empty() || llvm::is_contained(Lower, "queue");
  Result.Split = llvm::is_contained(Lower, "split");
  return true;
}

} // namespace

std::string lowerings(const Options &Options) {
  return !Options.Split ? "queue" : Options.Queue ? "queue,split" : "split";
}

std::optional<Options> parseOptions(int Argc, const char **Argv) {
  const char **End = Argv + Argc;
  const char **Dashes = std::find_if(Argv, End, [](auto *A) { return !std::strcmp(A, "--"); });
  CommandLine Line;
  cl::HideUnrelatedOptions(Line.Category);
  Options Result;
  if (!cl::ParseCommandLineOptions(int(Dashes - Argv), Argv, Overview, &llvm::errs()) ||
      !readLowerings(Line.Lower, Result))
    return std::nullopt;
  Result.Input = Line.Input;
  Result.Output = Line.Output;
  Result.Target = Line.Target;
  Result.Remarks = Line.Remarks;
  Result.Report = Line.Report;
  Result.Depfile = Line.Depfile;
  Result.BuildPath = Line.BuildPath;
  Result.CudaPath = Line.CudaPath;
  if (Dashes != End)
    Result.Flags.assign(Dashes + 1, End);
  return Result;
}

} // namespace gmpi::translate
