// Clang's driver, then its frontend, set up for one parse.
#include "Compiler.h"
#include "LaunchBraces.h"
#include "clang/Driver/CreateInvocationFromArgs.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Lex/PreprocessorOptions.h"
#include "llvm/Support/VirtualFileSystem.h"

namespace gmpi::translate {

namespace {

/// The main file's size is fixed before the preprocessor starts, so its changed copy, where it
/// needs one, comes earlier than the headers' (SourceWatcher.cpp).
std::string remapMainFile(const std::string &Path, llvm::vfs::FileSystem &Files,
                          clang::CompilerInvocation &Invocation) {
  auto Text = Files.getBufferForFile(Path);
  if (!Text)
    return "";
  std::string MainText = (*Text)->getBuffer().str();
  if (auto Braced = spellLaunchBraces(MainText))
    Invocation.getPreprocessorOpts().addRemappedFile(
        Path, llvm::MemoryBuffer::getMemBufferCopy(Braced->Text, Path).release());
  return MainText;
}

} // namespace

Compiler createCompiler(llvm::ArrayRef<std::string> Words,
                        llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> Files,
                        clang::DiagnosticConsumer &Consumer) {
  std::vector<const char *> Arguments;
  for (const std::string &Word : Words)
    Arguments.push_back(Word.c_str());
  clang::DiagnosticOptions DriverOptions;
  clang::CreateInvocationOptions Create;
  Create.VFS = Files;
  Create.Diags = clang::CompilerInstance::createDiagnostics(*Files, DriverOptions, &Consumer,
                                                            /*ShouldOwnClient=*/false);
  std::shared_ptr<clang::CompilerInvocation> Invocation =
      clang::createInvocation(Arguments, std::move(Create));
  if (!Invocation)
    return {};
  Invocation->getFrontendOpts().DisableFree = false;
  Compiler Result{nullptr, remapMainFile(Words.back(), *Files, *Invocation)};
  auto Instance = std::make_unique<clang::CompilerInstance>(std::move(Invocation));
  Instance->setVirtualFileSystem(Files);
  Instance->createDiagnostics(&Consumer, /*ShouldOwnClient=*/false);
  Instance->createFileManager();
  Instance->createSourceManager();
  if (Instance->createTarget())
    Result.Instance = std::move(Instance);
  return Result;
}

} // namespace gmpi::translate
