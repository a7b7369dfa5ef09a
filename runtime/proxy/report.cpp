// Messages to the user, and the names of source files.
#include "report.hpp"

#include "../launch/launch.hpp"
#include "exit.hpp"

#include <mpi.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>

namespace gmpi {

namespace {

struct SourceFiles {
  std::mutex mutex;
  std::map<unsigned, std::string> paths;
};

SourceFiles &source_files() {
  static SourceFiles files;
  return files;
}

bool mpi_is_up() {
  int initialized = 0, finalized = 0;
  PMPI_Initialized(&initialized);
  PMPI_Finalized(&finalized);
  return initialized && !finalized;
}

/// One write, so that lines of several ranks do not mix.
void print(const char *format, std::va_list arguments) {
  char text[4096];
  int length = 0;
  if (mpi_is_up()) {
    int rank = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    length = std::snprintf(text, sizeof(text), "gmpi: rank %d: ", rank);
  } else {
    length = std::snprintf(text, sizeof(text), "gmpi: ");
  }
  std::vsnprintf(text + length, sizeof(text) - length - 1, format, arguments);
  std::string line = std::string(text) + "\n";
  std::fwrite(line.data(), 1, line.size(), stderr);
  std::fflush(stderr);
}

} // namespace

SourceFile::SourceFile(unsigned hash, const char *path) {
  std::lock_guard lock(source_files().mutex);
  source_files().paths.emplace(hash, path);
}

void say(const char *format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  print(format, arguments);
  va_end(arguments);
}

void fatal(const char *format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  print(format, arguments);
  va_end(arguments);
  if (mpi_is_up())
    end_job(MPI_COMM_WORLD, 1);
  std::_Exit(1);
}

std::string place(Site site) {
  std::lock_guard lock(source_files().mutex);
  auto found = source_files().paths.find(site.file);
  std::string path = found == source_files().paths.end() ? "(unknown file)" : found->second;
  return path + ":" + std::to_string(site.line);
}

const char *name_of(Scope scope) {
  switch (scope) {
  case Scope::grid:
    return "grid";
  case Scope::block:
    return "block";
  default:
    return "thread";
  }
}

} // namespace gmpi
