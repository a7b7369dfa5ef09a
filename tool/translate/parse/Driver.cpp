// Clang's command line for a pass. Order of header search: the translator's mpi.h (which includes
// the next one), the user's folders, then the MPI library this build was configured with.
#include "Driver.h"
#include "../MpiFunctions.h"
#include "EmbeddedHeaders.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"

namespace gmpi::translate {

namespace {

using llvm::StringRef;

const std::string MpiWrapper = (OwnHeaders + "/mpi").str();
const std::string SmallCuda = (OwnHeaders + "/cuda").str();
const std::string Runtime = (OwnHeaders + "/runtime/include").str();

bool isToolkit(const std::string &Folder) {
  return !Folder.empty() && llvm::sys::fs::exists(Folder + "/include/cuda.h");
}

/// The newest architecture that both are sure to know: what nvcc 13 takes by default.
constexpr StringRef DefaultArchitecture = "sm_75";

void addCudaHeaders(const std::string &Toolkit, std::vector<std::string> &Words) {
  if (Toolkit.empty()) {
    Words.insert(Words.end(), {"-nocudainc", "-I" + SmallCuda, "-include", "cuda_runtime.h"});
    return;
  }
  Words.push_back("--cuda-path=" + Toolkit);
}

/// nvcc looks there by itself for CUB, Thrust and libcu++.
void addToolkitLibraries(const std::string &Toolkit, std::vector<std::string> &Words) {
  if (!Toolkit.empty() && llvm::sys::fs::is_directory(Toolkit + "/include/cccl"))
    Words.insert(Words.end(), {"-isystem", Toolkit + "/include/cccl"});
}

void addMpiHeaders(std::vector<std::string> &Words) {
  llvm::SmallVector<StringRef> Folders;
  StringRef(GMPI_MPI_INCLUDES).split(Folders, '|', -1, false);
  for (StringRef Folder : Folders)
    Words.insert(Words.end(), {"-isystem", Folder.str()});
}

/// The real file system knows no way up from a folder that is in memory only.
class WithWaysUp final : public llvm::vfs::ProxyFileSystem {
public:
  using ProxyFileSystem::ProxyFileSystem;

  llvm::ErrorOr<llvm::vfs::Status> status(const llvm::Twine &Path) override {
    auto Found = ProxyFileSystem::status(Path);
    return Found ? Found : ProxyFileSystem::status(straight(Path));
  }
  llvm::ErrorOr<std::unique_ptr<llvm::vfs::File>>
  openFileForRead(const llvm::Twine &Path) override {
    auto Found = ProxyFileSystem::openFileForRead(Path);
    return Found ? std::move(Found) : ProxyFileSystem::openFileForRead(straight(Path));
  }

private:
  static std::string straight(const llvm::Twine &Path) {
    llvm::SmallString<256> Result;
    Path.toVector(Result);
    llvm::sys::path::remove_dots(Result, /*remove_dot_dot=*/true);
    return Result.str().str();
  }
};

} // namespace

std::string toolkitFor(const Options &Options) {
  if (Options.Target == Device::Cpu || Options.CudaPath == "none")
    return "";
  if (!Options.CudaPath.empty())
    return Options.CudaPath;
  for (const char *Variable : {"CUDA_HOME", "CUDA_PATH"})
    if (auto Folder = llvm::sys::Process::GetEnv(Variable); Folder && isToolkit(*Folder))
      return *Folder;
  for (const char *Folder : {GMPI_CUDA_TOOLKIT, "/usr/local/cuda", "/opt/cuda"})
    if (isToolkit(Folder))
      return Folder;
  return "";
}

std::vector<std::string> driverArguments(const Options &Options, const CompilerFlags &Flags,
                                         Side Side) {
  std::string Toolkit = toolkitFor(Options);
  std::vector<std::string> Words = {
      GMPI_CLANG, "-fsyntax-only", "-x", "cuda", "-nocudalib",
      // GMPI reads what nvcc is to compile: nvcc's warnings come later.
      "-w", "-Wno-unknown-cuda-version", "-Wno-c++11-narrowing", "-fno-spell-checking",
      // Launches as CUDA has made them since 9.2.
      "-Xclang", "-target-sdk-version=12.8", "-resource-dir", GMPI_CLANG_RESOURCES,
      "-DMPICH_SKIP_MPICXX=1", "-DOMPI_SKIP_MPICXX=1", "-I" + MpiWrapper};
  if (Side == Side::Host)
    Words.push_back("--cuda-host-only");
  else
    Words.push_back("--cuda-device-only");
  Words.push_back("--cuda-gpu-arch=" + (Flags.Architectures.empty() ? DefaultArchitecture.str()
                                                                    : Flags.Architectures.front()));
  if (Options.Target == Device::Cpu)
    Words.push_back("-DGMPI_DEVICE_CPU=1");
  if (Flags.RelocatableDeviceCode)
    Words.push_back("-fgpu-rdc");
  addCudaHeaders(Toolkit, Words);
  Words.insert(Words.end(), Flags.Words.begin(), Flags.Words.end());
  addToolkitLibraries(Toolkit, Words);
  addMpiHeaders(Words);
  Words.push_back(Options.Input);
  return Words;
}

std::vector<std::string> outputArguments(const Options &Options, const CompilerFlags &Flags,
                                         Side Side, const std::string &Output) {
  StringRef Folder = llvm::sys::path::parent_path(Options.Input);
  struct Options OfOutput = Options;
  OfOutput.Input = Output;
  CompilerFlags WithRuntime = Flags;
  WithRuntime.Words.insert(WithRuntime.Words.begin(),
                           {"-iquote", Folder.empty() ? "." : Folder.str(), "-isystem", Runtime,
                            "-DGMPI_CALLS_ELSEWHERE=1"});
  if (Options.Target == Device::Cpu)
    WithRuntime.Words.insert(WithRuntime.Words.begin(), {"-include", "gmpi/parse/cpu.hpp"});
  return driverArguments(OfOutput, WithRuntime, Side);
}

llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem>
fileSystem(const std::map<std::string, std::string> &InMemory) {
  auto Own = llvm::makeIntrusiveRefCnt<llvm::vfs::InMemoryFileSystem>();
  auto Add = [&](const std::string &Path, StringRef Text) {
    Own->addFile(Path, 0, llvm::MemoryBuffer::getMemBufferCopy(Text, Path));
  };
  Add(MpiWrapper + "/mpi.h", deviceDeclarations());
  for (const EmbeddedHeader &Header : embeddedHeaders())
    Add((OwnHeaders + "/" + Header.Name).str(), Header.Text);
  for (auto &[Path, Text] : InMemory)
    Add(Path, Text);
  auto All =
      llvm::makeIntrusiveRefCnt<llvm::vfs::OverlayFileSystem>(llvm::vfs::getRealFileSystem());
  All->pushOverlay(Own);
  if (InMemory.empty())
    return All;
  return llvm::makeIntrusiveRefCnt<WithWaysUp>(All);
}

} // namespace gmpi::translate
