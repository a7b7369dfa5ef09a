# The few lines that tell what this build folder will hold.

set(tool "no")
if(GMPI_BUILD_TOOL)
  set(tool "yes (LLVM ${LLVM_PACKAGE_VERSION})")
elseif(GMPI_TRANSLATE)
  set(tool "no, uses ${GMPI_TRANSLATE}")
endif()
set(cuda "no")
if(TARGET gmpi_cuda)
  set(cuda "yes (CUDA ${CUDAToolkit_VERSION})")
endif()
message(STATUS "GMPI: MPI ${GMPI_MPI_FAMILY} (${GMPI_MPICXX_PATH}), translator ${tool}, "
               "cuda device ${cuda}, sanitizer '${GMPI_SANITIZE}'")
