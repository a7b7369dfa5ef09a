// The translator's own command line.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace gmpi::translate {

enum class Device { Cuda, Cpu };

struct Options {
  std::string Input;
  std::string Output;
  Device Target = Device::Cuda;
  bool Queue = true, Split = false; ///< the lowerings asked for; at least one
  bool Remarks = false;
  std::string Report;    ///< JSON file, or empty
  std::string Depfile;   ///< or empty
  std::string BuildPath; ///< folder of compile_commands.json, or empty
  std::string CudaPath;  ///< a toolkit's folder, "none" for the project's own headers, or empty
  std::vector<std::string> Flags; ///< what stands after `--`
};

/// "queue,split"
std::string lowerings(const Options &Options);

/// Prints what is wrong and returns nothing where the command line is not understood.
std::optional<Options> parseOptions(int Argc, const char **Argv);

} // namespace gmpi::translate
