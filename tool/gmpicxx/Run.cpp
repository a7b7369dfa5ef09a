#include "Run.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/WithColor.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace gmpi {

static void printCommand(const Words &Command) {
  ListSeparator Space(" ");
  for (const std::string &Word : Command) {
    errs() << Space;
    sys::printArg(errs(), Word, /*Quote=*/false);
  }
  errs() << '\n';
}

/// Exit status of the command; a command that cannot be started or crashes is said here.
static int execute(const Words &Command) {
  std::vector<StringRef> Arguments(Command.begin(), Command.end());
  std::string Message;
  bool Failed = false;
  int Status =
      sys::ExecuteAndWait(Command.front(), Arguments, std::nullopt, {}, /*SecondsToWait=*/0,
                          /*MemoryLimit=*/0, &Message, &Failed);
  if (Failed || Status < 0)
    WithColor::error(errs(), "gmpicxx") << Command.front() << ": " << Message << '\n';
  return Status;
}

/// The translator's rule names its own output as target; the user asked for another.
static Error rewriteDependencies(const Step &Step) {
  auto Buffer = MemoryBuffer::getFile(Step.TranslatedDependencies);
  if (!Buffer)
    return failure("cannot read " + Step.TranslatedDependencies + ": " +
                   Buffer.getError().message());
  StringRef Prerequisites = (*Buffer)->getBuffer();
  if (size_t Colon = Prerequisites.find(": "); Colon != StringRef::npos)
    Prerequisites = Prerequisites.drop_front(Colon);
  if (Step.WantedDependencies == "-") {
    outs() << Step.DependencyTarget << Prerequisites;
    return Error::success();
  }
  std::error_code EC;
  raw_fd_ostream File(Step.WantedDependencies, EC, sys::fs::OF_Text);
  if (EC)
    return failure("cannot write " + Step.WantedDependencies + ": " + EC.message());
  File << Step.DependencyTarget << Prerequisites;
  return Error::success();
}

int runPlan(const Plan &Plan, bool Print, bool Execute) {
  if (Print)
    for (const std::string &Remark : Plan.Remarks)
      errs() << "gmpicxx: " << Remark << '\n';
  for (const Step &Step : Plan.Steps) {
    if (Print)
      printCommand(Step.Command);
    if (!Execute)
      continue;
    if (execute(Step.Command) != 0)
      return 1;
    if (Step.WantedDependencies.empty())
      continue;
    if (Error E = rewriteDependencies(Step)) {
      WithColor::error(errs(), "gmpicxx") << toString(std::move(E)) << '\n';
      return 1;
    }
  }
  return 0;
}

} // namespace gmpi
