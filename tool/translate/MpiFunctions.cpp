// functions.def as tables and as declarations for Clang.
#include "MpiFunctions.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

namespace gmpi::translate {

namespace {

const MpiFunction Functions[] = {
#define GMPI_FUNCTION(name, start, kind, roles) {#name, #kind, "int", #roles},
#define GMPI_FUNCTION_0(name, result, kind) {#name, #kind, #result, "()"},
#include "mpi/functions.def"
};

struct Role {
  llvm::StringRef Name, Type;
};

const Role Roles[] = {
#define GMPI_ARGUMENT(role, type, use) {#role, #type},
#include "mpi/functions.def"
};

llvm::StringRef typeOfRole(llvm::StringRef Name) {
  for (const Role &R : Roles)
    if (R.Name == Name)
      return R.Type;
  return "int";
}

std::string parameters(llvm::StringRef RoleList) {
  llvm::SmallVector<llvm::StringRef, 12> Names;
  RoleList.trim("()").split(Names, ',', -1, false);
  std::string Text;
  for (llvm::StringRef Name : Names)
    Text += (Text.empty() ? "" : ", ") + typeOfRole(Name.trim()).str();
  return "(" + Text + ")";
}

} // namespace

llvm::ArrayRef<MpiFunction> mpiFunctions() { return Functions; }

const MpiFunction *findMpiFunction(llvm::StringRef Name) {
  if (!Name.consume_front("MPI_"))
    return nullptr;
  for (const MpiFunction &F : Functions)
    if (F.Name == Name)
      return &F;
  return nullptr;
}

bool isMpiName(llvm::StringRef Name) {
  Name.consume_front("P");
  return Name.consume_front("MPI_") && !Name.empty() && llvm::isUpper(Name.front());
}

std::string deviceDeclarations() {
  std::string Text = "#ifndef GMPI_PARSE_MPI_H\n#define GMPI_PARSE_MPI_H\n"
                     "#pragma GCC system_header\n"
                     "#include_next <mpi.h>\n"
                     // Open MPI's predefined handles are addresses of host variables, which device
                     // code may not name. Their values do not matter here.
                     "#ifdef OMPI_PREDEFINED_GLOBAL\n#undef OMPI_PREDEFINED_GLOBAL\n"
                     "#define OMPI_PREDEFINED_GLOBAL(type, global) ((type)(void *)1)\n#endif\n"
                     "#ifdef __CUDA__\n";
  for (const MpiFunction &F : Functions)
    Text += "__attribute__((device)) " + F.Result.str() + " MPI_" + F.Name.str() +
            parameters(F.Roles) + ";\n";
  return Text + "#endif\n#endif\n";
}

} // namespace gmpi::translate
