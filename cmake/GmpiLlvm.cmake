# Finds the LLVM and Clang 22 development files that the tools are written against.

find_package(LLVM 22.1 CONFIG QUIET HINTS /usr/lib/llvm-22/lib/cmake/llvm)
if(NOT LLVM_FOUND)
  message(FATAL_ERROR
          "LLVM 22.1's development files were not found. Install the packages clang-22, "
          "libclang-22-dev, llvm-22-dev and llvm-22-tools (./quickstart does), set LLVM_DIR to the "
          "folder of LLVMConfig.cmake, or build the runtime alone with -DGMPI_BUILD_TOOL=OFF.")
endif()
find_package(Clang CONFIG REQUIRED HINTS "${LLVM_DIR}/../clang" "${LLVM_INSTALL_PREFIX}/lib/cmake/clang"
             NO_DEFAULT_PATH)
list(APPEND CMAKE_MODULE_PATH "${LLVM_CMAKE_DIR}")
separate_arguments(GMPI_LLVM_DEFINITIONS NATIVE_COMMAND "${LLVM_DEFINITIONS}")
