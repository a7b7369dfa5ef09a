#include "Options.h"
#include "Config.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace gmpi {

const char HelpText[] = R"(usage: gmpicxx [options] file.cu [file.cpp file.o ...] [-o program]

Translates every .cu file (MPI calls in kernels become requests to the host), compiles the result with
nvcc or the host compiler, and links it with libgmpi and MPI. Flags of nvcc and g++ are taken as usual.

  --device=cuda|cpu   where kernels run (default: cuda where this GMPI has it and nvcc is found)
  --lower=LIST        lowerings for the translator (gmpi-translate --help)
  --remarks           say for every MPI call in a kernel what became of it
  --report=FILE       the same as JSON
  --keep[=DIR]        keep the translated files (NAME.gmpi.cu), here or in DIR
  --mpi=WRAPPER       another mpicxx of the MPI that this GMPI was built for
  --conf=FILE         use the runtime that this gmpi.conf describes
  -v                  print every command before it runs; also what is left out for the cpu device
  -###, --dry-run     print the commands, run none
)";

namespace {

class Parser {
public:
  explicit Parser(ArrayRef<const char *> Arguments) : Rest(Arguments) {}

  Expected<Options> run() {
    while (!Rest.empty()) {
      StringRef Argument = next();
      Expected<bool> Taken = parseOwn(Argument);
      if (Taken && !*Taken)
        Taken = parseDriver(Argument);
      if (!Taken)
        return Taken.takeError();
      if (!*Taken)
        if (Error E = parseOther(Argument))
          return E;
    }
    return std::move(Result);
  }

private:
  StringRef next() {
    StringRef Word = Rest.front();
    Rest = Rest.drop_front();
    return Word;
  }

  /// Stores the value of `--name=value` or `--name value` in Into.
  Expected<bool> valueOption(StringRef Argument, StringRef Name, std::string &Into) {
    if (!Argument.consume_front(Name))
      return false;
    if (Argument.consume_front("=")) {
      Into = Argument.str();
      return true;
    }
    if (!Argument.empty())
      return false;
    return separateValue(Name, Into);
  }

  Expected<bool> separateValue(StringRef Name, std::string &Into) {
    if (Rest.empty())
      return failure(Name + " needs a value behind it");
    Into = next().str();
    return true;
  }

  Expected<bool> parseOwn(StringRef Argument) {
    bool *Switch = StringSwitch<bool *>(Argument)
                       .Case("--remarks", &Result.Remarks)
                       .Cases({"-v", "--verbose"}, &Result.Verbose)
                       .Cases({"-###", "--dry-run", "-dryrun", "--dryrun"}, &Result.DryRun)
                       .Cases({"-h", "--help"}, &Result.Help)
                       .Case("--version", &Result.Version)
                       .Default(nullptr);
    if (Switch)
      return *Switch = true;
    if (Argument == "--keep" || Argument.starts_with("--keep=")) {
      Argument.consume_front("--keep");
      Result.KeepFolder = Argument.consume_front("=") ? Argument.str() : ".";
      return true;
    }
    struct {
      StringRef Name;
      std::string &Into;
    } Values[] = {{"--device", Result.Device},
                  {"--lower", Result.Lower},
                  {"--mpi", Result.MpiWrapper},
                  {"--conf", Result.ConfigFile},
                  {"--report", Result.ReportFile}};
    for (auto &[Name, Into] : Values) {
      Expected<bool> Taken = valueOption(Argument, Name, Into);
      if (!Taken || *Taken)
        return Taken;
    }
    return false;
  }

  Expected<bool> parseDriver(StringRef Argument) {
    if (Argument == "-o" || Argument == "--output-file")
      return separateValue(Argument, Result.Output);
    if (Argument.starts_with("-o") && !Argument.starts_with("-optf")) {
      Result.Output = Argument.drop_front(2).str();
      return true;
    }
    if (Argument == "-MF")
      return separateValue(Argument, Result.Dependencies.File);
    if (Argument == "-MT" || Argument == "-MQ")
      return separateValue(Argument, Result.Dependencies.Target);
    if (Argument == "-MD" || Argument == "-MMD")
      return Result.Dependencies.Write = true;
    if (Argument == "-MP") // every header exists: the translator has just read it
      return true;
    if (Argument == "-x")
      return parseLanguage();
    return parseStage(Argument);
  }

  Expected<bool> parseLanguage() {
    std::string Name;
    if (Expected<bool> Taken = separateValue("-x", Name); !Taken)
      return Taken;
    auto Found = StringSwitch<std::optional<Language>>(Name)
                     .Cases({"cu", "cuda"}, Language::Cuda)
                     .Case("c++", Language::Cxx)
                     .Case("c", Language::C)
                     .Default(std::nullopt);
    if (!Found && Name != "none")
      return failure("-x " + Name + " is not a language gmpicxx knows: cu, c++, c or none");
    Forced = Found;
    return true;
  }

  Expected<bool> parseStage(StringRef Argument) {
    auto Found = StringSwitch<std::optional<Stage>>(Argument)
                     .Cases({"-c", "--compile", "-dc", "--device-c"}, Stage::Compile)
                     .Cases({"-ptx", "-cubin", "-fatbin", "-S"}, Stage::Compile)
                     .Cases({"-E", "--preprocess"}, Stage::Preprocess)
                     .Cases({"-M", "-MM"}, Stage::Dependencies)
                     .Default(std::nullopt);
    if (!Found)
      return false;
    Result.LastStage = *Found;
    Result.StageFlag = Argument.str();
    if (Argument.starts_with("--"))
      Result.StageFlag = *Found == Stage::Preprocess ? "-E" : "-c";
    if (Argument == "-dc" || Argument == "--device-c") {
      Result.StageFlag = "-c";
      Result.Flags.push_back({FlagClass::Nvcc, {"-rdc=true"}});
    }
    return true;
  }

  Error parseOther(StringRef Argument) {
    if (!Argument.starts_with("-") || Argument == "-") {
      Result.Inputs.push_back({languageOf(Argument), Argument.str(), std::nullopt});
      return Error::success();
    }
    FlagShape Shape = shapeOf(Argument);
    Flag Flag{Shape.Class, {Argument.str()}};
    for (unsigned Count = 0; Count < Shape.ExtraWords; ++Count) {
      std::string Value;
      if (Expected<bool> Taken = separateValue(Argument, Value); !Taken)
        return Taken.takeError();
      Flag.Spelling.push_back(Value);
    }
    if (Shape.Class == FlagClass::Link)
      Result.Inputs.push_back({Language::None, "", Flag});
    else
      Result.Flags.push_back(Flag);
    return Error::success();
  }

  Language languageOf(StringRef Path) const {
    if (Forced)
      return *Forced;
    return StringSwitch<Language>(sys::path::extension(Path))
        .Case(".cu", Language::Cuda)
        .Cases({".cpp", ".cc", ".cxx", ".C", ".c++", ".cp"}, Language::Cxx)
        .Case(".c", Language::C)
        .Default(Language::None);
  }

  ArrayRef<const char *> Rest;
  std::optional<Language> Forced;
  Options Result;
};

Error checkConsistent(const Options &Options) {
  size_t Sources = 0;
  for (const Input &Input : Options.Inputs)
    Sources += Input.Source != Language::None;
  if (Options.Help || Options.Version)
    return Error::success();
  if (Options.Inputs.empty())
    return failure("no input files");
  if (!Options.Device.empty() && Options.Device != "cuda" && Options.Device != "cpu")
    return failure("--device=" + Options.Device + " is not a device: cuda or cpu");
  if (Options.LastStage != Stage::Link && Sources == 0)
    return failure(Options.StageFlag + " needs a source file");
  if (Options.LastStage != Stage::Link && Sources > 1 && !Options.Output.empty())
    return failure("-o names one file, but " + Options.StageFlag + " makes one for each of " +
                   Twine(Sources) + " sources");
  return Error::success();
}

} // namespace

Expected<Options> parseOptions(ArrayRef<const char *> Arguments) {
  Expected<Options> Result = Parser(Arguments).run();
  if (Result)
    if (Error E = checkConsistent(*Result))
      return E;
  return Result;
}

} // namespace gmpi
