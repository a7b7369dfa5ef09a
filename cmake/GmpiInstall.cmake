# What `cmake --install` lays down, and the CMake package that finds it again.
include(CMakePackageConfigHelpers)

set(GMPI_PACKAGE_DIR "${CMAKE_INSTALL_LIBDIR}/cmake/Gmpi")
set(GMPI_DATA_DIR "${CMAKE_INSTALL_DATADIR}/gmpi")

# The runtime: one library a device, its headers, the cpu device's CUDA headers, the function table.
set(GMPI_DEVICES "")
foreach(device cpu cuda)
  if(TARGET gmpi_${device})
    list(APPEND GMPI_DEVICES ${device})
    set_target_properties(gmpi_${device} PROPERTIES EXPORT_NAME ${device})
    if(NOT TARGET Gmpi::${device})
      add_library(Gmpi::${device} ALIAS gmpi_${device})
    endif()
  endif()
endforeach()
