// gmpicxx: compiles and links CUDA programs whose kernels call MPI, in one command like mpicxx's.
// Each .cu file is translated by gmpi-translate, the result compiled by nvcc (cuda device) or by
// the host compiler (cpu device), and everything linked with libgmpi and MPI.

#include "Config.h"
#include "Options.h"
#include "Plan.h"
#include "Run.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/StringSaver.h"
#include "llvm/Support/WithColor.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace gmpi;

static Expected<Options> readCommandLine(int Argc, const char **Argv, StringSaver &Saver) {
  SmallVector<const char *> Arguments;
  for (int Index = 1; Index < Argc; ++Index) {
    StringRef Word = Argv[Index];
    bool IsFile = Word == "--options-file" || Word == "-optf";
    if (IsFile && Index + 1 < Argc)
      Arguments.push_back(Saver.save(Twine("@") + Argv[++Index]).data());
    else if (Word.consume_front("--options-file="))
      Arguments.push_back(Saver.save("@" + Word).data());
    else
      Arguments.push_back(Argv[Index]);
  }
  cl::ExpansionContext Expansion(Saver.getAllocator(), cl::TokenizeGNUCommandLine);
  if (Error E = Expansion.expandResponseFiles(Arguments))
    return E;
  return parseOptions(Arguments);
}

static Expected<std::string> findTranslator(StringRef Executable, const Options &Options) {
  SmallString<256> Translator = sys::path::parent_path(Executable);
  sys::path::append(Translator, "gmpi-translate");
  bool Needed =
      any_of(Options.Inputs, [](const Input &Input) { return Input.Source == Language::Cuda; });
  if (Needed && !sys::fs::can_execute(Translator))
    return failure("gmpi-translate is not beside gmpicxx (" + Translator + ")");
  return std::string(Translator);
}

static Expected<int> run(const Options &Options, StringRef Executable) {
  Expected<Config> Config = gmpi::Config::read(
      Options.ConfigFile.empty() ? configFileFor(Executable) : Options.ConfigFile);
  if (!Config)
    return Config.takeError();
  Expected<std::string> Translator = findTranslator(Executable, Options);
  if (!Translator)
    return Translator.takeError();

  SmallString<128> Folder;
  if (std::error_code EC = sys::fs::createUniqueDirectory("gmpicxx", Folder))
    return failure("cannot make a folder for temporary files: " + EC.message());
  scope_exit RemoveFolder([&] { sys::fs::remove_directories(Folder); });
  if (Options.KeepFolder && !Options.DryRun)
    if (std::error_code EC = sys::fs::create_directories(*Options.KeepFolder))
      return failure("cannot make " + *Options.KeepFolder + ": " + EC.message());

  Expected<Plan> Plan = makePlan(Options, *Config, *Translator, Folder);
  if (!Plan)
    return Plan.takeError();
  return runPlan(*Plan, /*Print=*/Options.Verbose || Options.DryRun, /*Execute=*/!Options.DryRun);
}

int main(int Argc, const char **Argv) {
  InitLLVM Init(Argc, Argv);
  BumpPtrAllocator Allocator;
  StringSaver Saver(Allocator);

  Expected<Options> Options = readCommandLine(Argc, Argv, Saver);
  if (Options && Options->Help) {
    outs() << HelpText;
    return 0;
  }
  if (Options && Options->Version) {
    outs() << "gmpicxx " GMPI_VERSION "\n";
    return 0;
  }
  std::string Executable = sys::fs::getMainExecutable(Argv[0], reinterpret_cast<void *>(&main));
  Expected<int> Status = Options ? run(*Options, Executable) : Options.takeError();
  if (Status)
    return *Status;
  WithColor::error(errs(), "gmpicxx") << toString(Status.takeError()) << '\n';
  return 1;
}
