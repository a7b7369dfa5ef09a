#include "Config.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/LineIterator.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace gmpi {

Error failure(const Twine &Message) { return createStringError(inconvertibleErrorCode(), Message); }

static std::string replacePrefix(StringRef Value, StringRef Prefix) {
  std::string Result = Value.str();
  constexpr StringRef Word = "$PREFIX";
  for (size_t At = 0; (At = Result.find(Word, At)) != std::string::npos; At += Prefix.size())
    Result.replace(At, Word.size(), Prefix);
  return Result;
}

Expected<Config> Config::read(StringRef File) {
  auto Buffer = MemoryBuffer::getFile(File);
  if (!Buffer)
    return failure("cannot read " + File + " (" + Buffer.getError().message() +
                   "): gmpicxx finds its installation by this file, or by --conf=FILE");

  SmallString<256> Absolute = File;
  if (std::error_code EC = sys::fs::make_absolute(Absolute))
    return failure("cannot tell where " + File + " is: " + EC.message());
  StringRef Prefix = Absolute;
  for (int Level = 0; Level < 3; ++Level)
    Prefix = sys::path::parent_path(Prefix);

  Config Result;
  for (line_iterator Line(**Buffer, /*SkipBlanks=*/true, '#'); !Line.is_at_eof(); ++Line) {
    auto [Key, Value] = Line->split(": ");
    if (!Value.empty())
      Result.Values[Key].push_back(replacePrefix(Value, Prefix));
  }
  return Result;
}

const std::vector<std::string> &Config::all(StringRef Key) const {
  static const std::vector<std::string> None;
  auto Found = Values.find(Key);
  return Found == Values.end() ? None : Found->second;
}

StringRef Config::first(StringRef Key) const {
  const std::vector<std::string> &Found = all(Key);
  return Found.empty() ? StringRef() : StringRef(Found.front());
}

bool Config::hasDevice(StringRef Device) const { return is_contained(all("device"), Device); }

std::string configFileFor(StringRef Executable) {
  SmallString<256> File = sys::path::parent_path(sys::path::parent_path(Executable));
  sys::path::append(File, "share", "gmpi", "gmpi.conf");
  return std::string(File);
}

} // namespace gmpi
