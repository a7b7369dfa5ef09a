# Writes OUTPUT, a C++ file that holds headers as string literals:
#   cuda/      those of FOLDER, and the cpu device's own types and host functions under the names they
#              are included by
#   runtime/   the runtime's (from RUNTIME), which the output includes
# RUNTIME_HEADERS, a list, names the latter.
file(GLOB_RECURSE names RELATIVE "${FOLDER}" "${FOLDER}/*")
list(SORT names)
set(rows "")
function(embed name path)
  file(READ "${path}" text)
  string(APPEND rows "    {\"${name}\", R\"GMPIHEADER(${text})GMPIHEADER\"},\n")
  set(rows "${rows}" PARENT_SCOPE)
endfunction()
foreach(name IN LISTS names)
  embed("cuda/${name}" "${FOLDER}/${name}")
endforeach()
foreach(name api.hpp types.hpp vector_types.hpp errors.def math.def)
  embed("cuda/gmpi/cpu/${name}" "${RUNTIME}/cpu/include/gmpi/cpu/${name}")
endforeach()
string(REPLACE "," ";" runtime_headers "${RUNTIME_HEADERS}")
foreach(name IN LISTS runtime_headers)
  embed("runtime/${name}" "${RUNTIME}/${name}")
endforeach()
file(WRITE "${OUTPUT}.new" "#include \"EmbeddedHeaders.h\"
namespace gmpi::translate {
static const EmbeddedHeader Headers[] = {
${rows}};
llvm::ArrayRef<EmbeddedHeader> embeddedHeaders() { return Headers; }
} // namespace gmpi::translate
")
file(COPY_FILE "${OUTPUT}.new" "${OUTPUT}" ONLY_IF_DIFFERENT)
