# How everything here is compiled: language, warnings, optimisation, sanitizers, ccache, and where
# the build tree puts programs and libraries.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

include(GNUInstallDirs)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Release, Debug or RelWithDebInfo" FORCE)
endif()
string(REPLACE "-O3" "-O2" CMAKE_CXX_FLAGS_RELEASE "${CMAKE_CXX_FLAGS_RELEASE}")

if(PROJECT_IS_TOP_LEVEL)
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Wall> $<$<COMPILE_LANGUAGE:CXX>:-Wextra>)
endif()

find_program(GMPI_CCACHE ccache)
if(GMPI_CCACHE AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${GMPI_CCACHE}")
endif()
mark_as_advanced(GMPI_CCACHE)

set(GMPI_SANITIZE_FLAGS "")
if(GMPI_SANITIZE)
  if(NOT GMPI_SANITIZE MATCHES "^(address|thread)$")
    message(FATAL_ERROR "GMPI_SANITIZE is '${GMPI_SANITIZE}': it may be address, thread or empty.")
  endif()
  string(REPLACE "-DNDEBUG" "" CMAKE_CXX_FLAGS_RELEASE "${CMAKE_CXX_FLAGS_RELEASE}")
  set(GMPI_SANITIZE_FLAGS -fsanitize=${GMPI_SANITIZE} -fno-omit-frame-pointer -g)
  add_compile_options(${GMPI_SANITIZE_FLAGS})
  add_link_options(-fsanitize=${GMPI_SANITIZE})
endif()
