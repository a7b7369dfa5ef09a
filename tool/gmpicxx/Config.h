// Where this installation's parts are and which MPI it was built for: the file gmpi.conf, which
// lies at the same place relative to gmpicxx in a build folder and in an installation, so both work
// alike and an installation may be moved.
#ifndef GMPI_TOOL_GMPICXX_CONFIG_H
#define GMPI_TOOL_GMPICXX_CONFIG_H

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace gmpi {

class Config {
public:
  /// Reads File; `$PREFIX` in a value is the folder that holds share/gmpi/gmpi.conf.
  static llvm::Expected<Config> read(llvm::StringRef File);

  /// All values of Key, in the file's order; none is an empty list.
  const std::vector<std::string> &all(llvm::StringRef Key) const;

  /// The first value of Key, or "".
  llvm::StringRef first(llvm::StringRef Key) const;

  bool hasDevice(llvm::StringRef Device) const;

private:
  llvm::StringMap<std::vector<std::string>> Values;
};

/// gmpi.conf as seen from the program at Executable (…/bin/gmpicxx).
std::string configFileFor(llvm::StringRef Executable);

/// An error whose message is one sentence to the user.
llvm::Error failure(const llvm::Twine &Message);

} // namespace gmpi

#endif
