# gmpi_add_executable and gmpi_translate_sources: the translator as a step of a CMake build. Used by
# this project's samples and, installed, by everyone who says find_package(Gmpi).

# GMPI_TRANSLATE: the translator to run; GMPI_TRANSLATE_DEPENDS: what to rebuild before running it.
if(TARGET gmpi-translate)
  set(GMPI_TRANSLATE "$<TARGET_FILE:gmpi-translate>")
  set(GMPI_TRANSLATE_DEPENDS gmpi-translate)
elseif(NOT GMPI_TRANSLATE)
  find_program(_gmpi_translate_program gmpi-translate NO_CACHE
               HINTS "${GMPI_TOOL_DIR}" "${GMPI_PACKAGE_BIN_DIR}")
  if(_gmpi_translate_program)
    set(GMPI_TRANSLATE "${_gmpi_translate_program}")
  endif()
endif()

# gmpi_add_executable(name [DEVICE cuda|cpu] [LOWER queue,...] [REMARKS] [TRANSLATED] sources...)
# An executable whose .cu sources are translated first, linked with libgmpi and MPI. DEVICE is cuda
# where this GMPI has it, else cpu. With TRANSLATED the .cu sources are gmpi-translate's output already.
function(gmpi_add_executable name)
  cmake_parse_arguments(arg "REMARKS;TRANSLATED" "DEVICE;LOWER" "" ${ARGN})
  add_executable(${name})
  set(options "")
  foreach(option REMARKS TRANSLATED)
    if(arg_${option})
      list(APPEND options ${option})
    endif()
  endforeach()
  foreach(option DEVICE LOWER)
    if(arg_${option})
      list(APPEND options ${option} ${arg_${option}})
    endif()
  endforeach()
  gmpi_translate_sources(${name} ${options} ${arg_UNPARSED_ARGUMENTS})
endfunction()

# gmpi_translate_sources(target [the same options] sources...)
# The same for a target that exists already: adds the sources, and links it with libgmpi. On the cuda
# device all of the target's CUDA sources are compiled with -rdc=true: so libgmpi's functions are compiled
# by themselves, and kernels need fewer registers.
function(gmpi_translate_sources target)
  cmake_parse_arguments(arg "REMARKS;TRANSLATED" "DEVICE;LOWER" "" ${ARGN})
  _gmpi_choose_device("${arg_DEVICE}" device)
  target_link_libraries(${target} PRIVATE Gmpi::${device})
  if(device STREQUAL "cuda")
    set_target_properties(${target} PROPERTIES CUDA_SEPARABLE_COMPILATION ON)
  endif()

  foreach(source IN LISTS arg_UNPARSED_ARGUMENTS)
    get_filename_component(source "${source}" ABSOLUTE)
    if(NOT source MATCHES "\\.cu$")
      target_sources(${target} PRIVATE "${source}")
      continue()
    endif()
    if(arg_TRANSLATED)
      set(output "${source}")
    else()
      _gmpi_translate(${target} ${device} "${arg_LOWER}" "${arg_REMARKS}" "${source}" output)
    endif()
    target_sources(${target} PRIVATE "${output}")
    _gmpi_compile_as(${device} "${source}" "${output}")
  endforeach()
endfunction()

function(_gmpi_choose_device wanted device)
  if(wanted AND NOT wanted MATCHES "^(cuda|cpu)$")
    message(FATAL_ERROR "DEVICE is '${wanted}': it may be cuda or cpu.")
  endif()
  if(NOT wanted AND TARGET Gmpi::cuda)
    set(wanted cuda)
  elseif(NOT wanted)
    set(wanted cpu)
  endif()
  if(NOT TARGET Gmpi::${wanted})
    message(FATAL_ERROR "This GMPI was built without the ${wanted} device.")
  endif()
  if(wanted STREQUAL "cuda" AND NOT CMAKE_CUDA_COMPILER)
    message(FATAL_ERROR "The cuda device compiles with nvcc: add CUDA to the project's LANGUAGES, "
                        "or say DEVICE cpu.")
  endif()
  set(${device} ${wanted} PARENT_SCOPE)
endfunction()

# Adds the command that translates one source; its depfile names the user's sources and headers.
function(_gmpi_translate target device lower remarks source output)
  if(NOT GMPI_TRANSLATE)
    message(FATAL_ERROR "No gmpi-translate found: this GMPI was built without the tool. Put one on "
                        "PATH, set GMPI_TRANSLATE, or give translated sources with TRANSLATED.")
  endif()
  get_filename_component(name "${source}" NAME)
  string(SHA1 hash "${source}")
  string(SUBSTRING "${hash}" 0 8 hash)
  set(folder "${CMAKE_CURRENT_BINARY_DIR}/gmpi/${target}/${hash}")
  file(MAKE_DIRECTORY "${folder}")
  set(translated "${folder}/${name}")

  set(options --device=${device})
  if(lower)
    list(APPEND options --lower=${lower})
  endif()
  if(remarks)
    list(APPEND options --remarks)
  endif()
  set(language $<IF:$<STREQUAL:${device},cuda>,CUDA,CXX>)
  set(standard "$<TARGET_PROPERTY:${target},${language}_STANDARD>")
  set(includes "$<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>")
  set(definitions "$<TARGET_PROPERTY:${target},COMPILE_DEFINITIONS>")
  add_custom_command(
    OUTPUT "${translated}"
    COMMAND "${GMPI_TRANSLATE}" "${source}" -o "${translated}" ${options}
            "--depfile=${translated}.depends" -- "-std=c++$<IF:$<BOOL:${standard}>,${standard},17>"
            "$<$<BOOL:${includes}>:-I$<JOIN:${includes},;-I>>"
            "$<$<BOOL:${definitions}>:-D$<JOIN:${definitions},;-D>>"
    DEPENDS "${source}" ${GMPI_TRANSLATE_DEPENDS}
    DEPFILE "${translated}.depends"
    COMMENT "Translating ${name} for the ${device} device"
    COMMAND_EXPAND_LISTS VERBATIM)
  set(${output} "${translated}" PARENT_SCOPE)
endfunction()

# A translated file is compiled by nvcc, or by the host compiler with the cpu device's headers; its
# quoted includes are looked for beside the source it came from.
function(_gmpi_compile_as device source output)
  get_filename_component(folder "${source}" DIRECTORY)
  if(device STREQUAL "cuda")
    set_source_files_properties("${output}" PROPERTIES LANGUAGE CUDA COMPILE_OPTIONS
                                "-Xcompiler=-iquote;-Xcompiler=${folder}")
  else()
    set_source_files_properties(
      "${output}" PROPERTIES LANGUAGE CXX COMPILE_OPTIONS
      "-iquote;${folder};-x;c++;-include;cuda_runtime.h")
  endif()
endfunction()
