// gmpi-translate: command line in, exit status out.
#include "Options.h"
#include "Translate.h"

int main(int Argc, const char **Argv) {
  auto Options = gmpi::translate::parseOptions(Argc, Argv);
  return Options && gmpi::translate::translate(*Options) ? 0 : 1;
}
