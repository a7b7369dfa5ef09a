// What the runtime says to the user: one line on stderr, beginning with "gmpi: rank N:".
#pragma once

#include "../queue/scope.hpp"

#include <string>

namespace gmpi {

[[gnu::format(printf, 1, 2)]] void say(const char *format, ...);
/// Says so and ends the whole job (MPI_Abort where MPI is up).
[[noreturn, gnu::format(printf, 1, 2)]] void fatal(const char *format, ...);

/// "jacobi.cu:42", from the files that translated code has registered.
std::string place(Site site);
const char *name_of(Scope scope);

} // namespace gmpi
