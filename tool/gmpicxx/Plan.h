// From the command line to the commands: translate, compile, link. The plan is made in full before
// anything runs, so that -### shows exactly what would be done.
#ifndef GMPI_TOOL_GMPICXX_PLAN_H
#define GMPI_TOOL_GMPICXX_PLAN_H

#include "Config.h"
#include "Options.h"

namespace gmpi {

/// One command, and what is to be done with its dependency file once it has run.
struct Step {
  Words Command;                      // the program's path first
  std::string TranslatedDependencies; // written by the translator; empty: none
  std::string WantedDependencies;     // the user's, "-" for standard output
  std::string DependencyTarget;
};

struct Plan {
  std::vector<Step> Steps;
  std::vector<std::string> Remarks; // what -v has to say, a sentence each
};

/// Folder: where translated files and objects go that the user did not ask for.
llvm::Expected<Plan> makePlan(const Options &Options, const Config &Config,
                              llvm::StringRef Translator, llvm::StringRef Folder);

} // namespace gmpi

#endif
