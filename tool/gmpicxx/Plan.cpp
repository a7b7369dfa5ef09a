#include "Plan.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"

using namespace llvm;

namespace gmpi {

namespace {

void append(Words &To, const Words &More) { To.insert(To.end(), More.begin(), More.end()); }

std::string join(StringRef Folder, const Twine &Name) {
  SmallString<256> Path = Folder;
  sys::path::append(Path, Name);
  return std::string(Path);
}

/// The folder where quoted includes of a source are looked for first.
std::string folderOf(StringRef Source) {
  StringRef Folder = sys::path::parent_path(Source);
  return Folder.empty() ? "." : Folder.str();
}

class Planner {
public:
  Planner(const Options &Options, const Config &Config, StringRef Translator, StringRef Folder)
      : Given(Options), Installed(Config), Translator(Translator), Folder(Folder) {}

  Expected<Plan> run() {
    if (Error E = chooseDevice())
      return E;
    if (Error E = checkMpi())
      return E;
    remarkOnFlags();
    Words Objects;
    for (const Input &Input : Given.Inputs)
      planInput(Input, Objects);
    if (Given.LastStage == Stage::Link)
      planLink(Objects);
    return std::move(Result);
  }

private:
  bool isCuda() const { return Device == "cuda"; }

  Error chooseDevice() {
    std::string Nvcc = findNvcc();
    Device = Given.Device;
    if (Device.empty())
      Device = Installed.hasDevice("cuda") && !Nvcc.empty() ? "cuda" : "cpu";
    if (!Installed.hasDevice(Device))
      return failure("this GMPI was built without the " + Device +
                     " device (it has: " + llvm::join(Installed.all("device"), ", ") + ")");
    if (isCuda() && Nvcc.empty())
      return failure("nvcc was not found: put the CUDA toolkit's bin folder on PATH, or run the "
                     "program on this machine's processor with --device=cpu");
    Compiler = isCuda() ? Nvcc : findHostCompiler();
    if (Compiler.empty())
      return failure("no host compiler was found: install g++, or name one with -ccbin");
    return Error::success();
  }

  std::string findNvcc() const {
    if (auto Found = sys::findProgramByName("nvcc"))
      return *Found;
    StringRef Configured = Installed.first("nvcc");
    return sys::fs::can_execute(Configured) ? Configured.str() : "";
  }

  std::string findHostCompiler() const {
    std::string Name = "g++";
    if (StringRef Configured = Installed.first("host-compiler"); !Configured.empty())
      Name = Configured.str();
    for (const Flag &Flag : Given.Flags)
      for (StringRef Spelling : {"-ccbin", "--compiler-bindir"})
        if (StringRef First = Flag.Spelling.front(); First.consume_front(Spelling))
          Name = Flag.Spelling.size() > 1 ? Flag.Spelling[1] : First.ltrim('=').str();
    for (StringRef Candidate : {StringRef(Name), StringRef("g++"), StringRef("c++")})
      if (auto Found = sys::findProgramByName(Candidate))
        return *Found;
    return "";
  }

  /// libgmpi is compiled against one mpi.h; another MPI's numbers and handles are not the same.
  Error checkMpi() const {
    if (Given.MpiWrapper.empty())
      return Error::success();
    auto Wanted = sys::findProgramByName(Given.MpiWrapper);
    if (!Wanted)
      return failure("--mpi=" + Given.MpiWrapper + " was not found on PATH");
    bool Same = false;
    if (sys::fs::equivalent(*Wanted, Installed.first("mpi.wrapper"), Same) || !Same)
      return failure("this GMPI was built for " + Installed.first("mpi.wrapper") + ", not for " +
                     *Wanted + ": configure another with -DGMPI_MPICXX=" + Given.MpiWrapper +
                     ", and name it here with --conf=…/share/gmpi/gmpi.conf");
    return Error::success();
  }

  void remarkOnFlags() {
    if (isCuda())
      return;
    for (const Flag &Flag : Given.Flags)
      if (Flag.Class == FlagClass::Nvcc && forHost(Flag).empty())
        Result.Remarks.push_back("left out for the cpu device: " + llvm::join(Flag.Spelling, " "));
  }

  // --- one input
  // ------------------------------------------------------------------------------------

  void planInput(const Input &Input, Words &Objects) {
    if (Input.LinkFlag) {
      if (!isMpiLibrary(*Input.LinkFlag))
        append(Objects, isCuda() ? forNvcc(*Input.LinkFlag) : forHost(*Input.LinkFlag));
    } else if (Input.Source == Language::None) {
      Objects.push_back(Input.Path);
    } else {
      std::string Output = outputFor(Input.Path);
      planSource(Input, Output);
      Objects.push_back(Output);
    }
  }

  /// gmpicxx links MPI itself, after libgmpi, whose MPI_Init must be found first.
  static bool isMpiLibrary(const Flag &Flag) {
    static const StringSet<> Names = {"-lmpi", "-lmpich", "-lmpi_cxx", "-lmpichcxx", "-lmpicxx"};
    return Names.contains(llvm::join(Flag.Spelling, ""));
  }

  std::string outputFor(StringRef Source) {
    if (Given.LastStage == Stage::Link)
      return join(Folder, uniqueStem(Source, ObjectStems) + ".o");
    if (Given.LastStage != Stage::Compile || !Given.Output.empty())
      return Given.Output; // empty: standard output
    StringRef Extension = Given.StageFlag == "-c"   ? "o"
                          : Given.StageFlag == "-S" ? "s"
                                                    : StringRef(Given.StageFlag).drop_front();
    return (sys::path::stem(Source) + "." + Extension).str();
  }

  /// The source's name without extension, numbered where another source has the same.
  static std::string uniqueStem(StringRef Source, StringSet<> &Taken) {
    std::string Stem = sys::path::stem(Source).str();
    for (int Number = 2; !Taken.insert(Stem).second; ++Number)
      Stem = (sys::path::stem(Source) + "." + Twine(Number)).str();
    return Stem;
  }

  void planSource(const Input &Input, StringRef Output) {
    if (Input.Source != Language::Cuda) {
      Step Compile{compileCommand(Input, Input.Path, Output), "", "", ""};
      if (Given.LastStage == Stage::Dependencies || Given.Dependencies.Write)
        append(Compile.Command, dependencyWords(Input.Path, Output));
      Result.Steps.push_back(std::move(Compile));
      return;
    }
    std::string Translated = join(Given.KeepFolder ? *Given.KeepFolder : Folder.str(),
                                  uniqueStem(Input.Path, TranslatedStems) + ".gmpi.cu");
    Result.Steps.push_back(translateStep(Input.Path, Translated, Output));
    if (Given.LastStage != Stage::Dependencies)
      Result.Steps.push_back({compileCommand(Input, Translated, Output), "", "", ""});
  }

  Step translateStep(StringRef Source, StringRef Translated, StringRef Output) {
    Step Step;
    Words &Command = Step.Command;
    Command = {Translator.str(), Source.str(), "-o", Translated.str(), "--device=" + Device};
    if (!Given.Lower.empty())
      Command.push_back("--lower=" + Given.Lower);
    if (Given.Remarks)
      Command.push_back("--remarks");
    if (!Given.ReportFile.empty())
      Command.push_back("--report=" + Given.ReportFile);
    if (Given.LastStage == Stage::Dependencies || Given.Dependencies.Write) {
      Step.TranslatedDependencies = join(Folder, uniqueStem(Source, RuleStems) + ".d");
      Step.WantedDependencies = dependencyFileFor(Source, Output);
      Step.DependencyTarget = Given.Dependencies.Target.empty()
                                  ? dependencyTargetFor(Source, Output)
                                  : Given.Dependencies.Target;
      Command.push_back("--depfile=" + Step.TranslatedDependencies);
    }
    Command.push_back("--");
    append(Command, standardWords());
    append(Command, Installed.all("mpi.compile"));
    for (const Flag &Flag : Given.Flags)
      append(Command, forTranslator(Flag));
    return Step;
  }

  // --- dependency files
  // -------------------------------------------------------------------------------

  std::string dependencyTargetFor(StringRef Source, StringRef Output) const {
    if (Given.LastStage == Stage::Compile)
      return Output.str();
    return (sys::path::stem(Source) + ".o").str();
  }

  std::string dependencyFileFor(StringRef Source, StringRef Output) const {
    if (!Given.Dependencies.File.empty())
      return Given.Dependencies.File;
    if (Given.LastStage == Stage::Dependencies)
      return Given.Output.empty() ? "-" : Given.Output;
    SmallString<256> File =
        Given.LastStage == Stage::Compile ? Output : sys::path::filename(Source);
    sys::path::replace_extension(File, "d");
    return std::string(File);
  }

  /// For sources that go to a compiler untranslated, which then writes its own dependency file.
  Words dependencyWords(StringRef Source, StringRef Output) const {
    Words Result;
    if (Given.LastStage != Stage::Dependencies)
      Result = {"-MD", "-MF", dependencyFileFor(Source, Output)};
    if (!Given.Dependencies.Target.empty())
      append(Result, {"-MT", Given.Dependencies.Target});
    else if (Given.LastStage != Stage::Dependencies)
      append(Result, {"-MT", dependencyTargetFor(Source, Output)});
    return Result;
  }

  // --- compile and link
  // -------------------------------------------------------------------------------

  Words compileCommand(const Input &Input, StringRef File, StringRef Output) {
    Words Command = {Compiler};
    bool Translated = Input.Source == Language::Cuda;
    append(Command, languageWords(Input.Source));
    if (Translated) {
      append(Command, standardWords());
      append(Command, separateWords());
      append(Command, registerWords());
      append(Command, quoteFolderWords(folderOf(Input.Path)));
    }
    for (const Flag &Flag : Given.Flags)
      if (Input.Source != Language::C || !isStandard(Flag))
        append(Command, isCuda() ? forNvcc(Flag) : forHost(Flag));
    append(Command, environmentWords(Translated));
    Command.push_back(Given.LastStage == Stage::Link ? "-c" : Given.StageFlag);
    Command.push_back(File.str());
    if (!Output.empty())
      append(Command, {"-o", Output.str()});
    return Command;
  }

  /// A -std for C++ must not reach a C file of the same command line.
  static bool isStandard(const Flag &Flag) {
    StringRef First = Flag.Spelling.front();
    return (First.starts_with("-std") || First.starts_with("--std")) &&
           StringRef(Flag.Spelling.back()).contains("++");
  }

  /// Translated files are C++17 unless the user says otherwise; nvcc takes only one -std.
  Words standardWords() const {
    return any_of(Given.Flags, isStandard) ? Words{} : Words{"-std=c++17"};
  }

  /// libgmpi's functions are compiled by themselves unless the user says otherwise: nvcc gives
  /// those of a whole program registers side by side, and a kernel all that a chain of calls may
  /// need.
  Words separateWords() const {
    bool Said = any_of(Given.Flags, saysWhetherSeparate);
    return isCuda() && !Said ? Words{"-rdc=true"} : Words{};
  }

  /// A kernel without launch bounds may have 128 registers, unless the user says how many.
  Words registerWords() const {
    bool Said = any_of(Given.Flags, saysRegisters);
    return isCuda() && Said ? Words{"-DGMPI_KERNEL_REGISTERS="} : Words{};
  }

  Words languageWords(Language Source) const {
    switch (Source) {
    case Language::Cuda:
      return {"-x", isCuda() ? "cu" : "c++"};
    case Language::Cxx:
      return {"-x", "c++"};
    case Language::C:
      return {"-x", "c"};
    case Language::None:
      break;
    }
    llvm_unreachable("only sources are compiled");
  }

  Words quoteFolderWords(const std::string &Folder) const {
    Words Host = {"-iquote", Folder};
    return isCuda() ? behindXcompiler(Host) : Host;
  }

  /// Headers of libgmpi, of MPI, and on the cpu device those that stand for the CUDA toolkit's.
  Words environmentWords(bool Translated) const {
    Words Result;
    if (!isCuda()) {
      Result.push_back("-DGMPI_DEVICE_CPU=1");
      for (const std::string &Include : Installed.all("cpu.include"))
        Result.push_back("-I" + Include);
      if (Translated)
        append(Result, {"-include", "cuda_runtime.h"});
    }
    for (const std::string &Include : Installed.all("include"))
      Result.push_back("-I" + Include);
    Words Host = Installed.all("mpi.compile");
    append(Host, Installed.all("flag"));
    append(Host, {"-DMPICH_SKIP_MPICXX=1", "-DOMPI_SKIP_MPICXX=1"});
    append(Result, asCompilerTakes(Host));
    return Result;
  }

  /// Host compiler words in the chosen compiler's spelling.
  Words asCompilerTakes(const Words &Host) const {
    if (!isCuda())
      return Host;
    Words Result;
    for (const std::string &Word : Host)
      append(Result, forNvcc({shapeOf(Word).Class, {Word}}));
    return Result;
  }

  void planLink(const Words &Objects) {
    Words Command = {Compiler};
    for (const Flag &Flag : Given.Flags)
      if (Flag.Class != FlagClass::Preprocess)
        append(Command, isCuda() ? forNvcc(Flag) : forHost(Flag));
    append(Command, missingArchitectureWords());
    append(Command, Objects);
    append(Command, Installed.all(Device + ".library"));
    Words Host = Installed.all(Device + ".link");
    append(Host, Installed.all("mpi.link"));
    append(Host, Installed.all("flag"));
    append(Command, asCompilerTakes(Host));
    append(Command, {"-o", Given.Output.empty() ? "a.out" : Given.Output});
    Result.Steps.push_back({std::move(Command), "", "", ""});
  }

  /// nvcc links device code, too, for one architecture where none is given; that it finds none for
  /// this in an object is only a warning of its linker's, but no kernel of the program would run.
  Words missingArchitectureWords() const {
    if (!isCuda() || any_of(Given.Flags, saysArchitecture))
      return {};
    return {"-Xnvlink=-Werror", "-Xnvlink=-suppress-stack-size-warning"};
  }

  const Options &Given;
  const Config &Installed;
  StringRef Translator;
  StringRef Folder;
  std::string Device;
  std::string Compiler;
  StringSet<> ObjectStems, RuleStems, TranslatedStems;
  Plan Result;
};

} // namespace

Expected<Plan> makePlan(const Options &Options, const Config &Config, StringRef Translator,
                        StringRef Folder) {
  return Planner(Options, Config, Translator, Folder).run();
}

} // namespace gmpi
