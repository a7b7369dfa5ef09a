# What `cmake --install` lays down. The file gmpi.conf says where everything is and which MPI it was
# built for; gmpicxx, the CMake package and the lit configuration all read it, so it is the only place
# that knows. A build folder has one too, at the same place, and works uninstalled.
include(CMakePackageConfigHelpers)

set(GMPI_PACKAGE_DIR "${CMAKE_INSTALL_LIBDIR}/cmake/Gmpi")
set(GMPI_DATA_DIR "${CMAKE_INSTALL_DATADIR}/gmpi")
# The headers keep the layout they have here (device code is header-only and spread over runtime/).
set(GMPI_HEADER_DIR "${CMAKE_INSTALL_INCLUDEDIR}/gmpi-runtime")

# --- libraries --------------------------------------------------------------------------------------
set(GMPI_DEVICES "")
foreach(device cpu cuda)
  if(TARGET gmpi_${device})
    list(APPEND GMPI_DEVICES ${device})
    if(NOT TARGET Gmpi::${device})
      add_library(Gmpi::${device} ALIAS gmpi_${device})
    endif()
    install(TARGETS gmpi_${device} ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}"
                                   LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
  endif()
endforeach()
set(GMPI_LIBRARIES_cpu gmpi_cpu)
set(GMPI_LIBRARIES_cuda gmpi_cuda)
if(TARGET gmpi_cpu_device)
  get_target_property(type gmpi_cpu_device TYPE)
  if(type STREQUAL "STATIC_LIBRARY")
    list(APPEND GMPI_LIBRARIES_cpu gmpi_cpu_device)
    install(TARGETS gmpi_cpu_device ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
  endif()
endif()
set(GMPI_LINK_cpu -lboost_context -pthread)
set(GMPI_LINK_cuda -pthread)
# dlopen: libc itself has it from glibc 2.34 on. nvlink would look into what nvcc calls a library.
foreach(library IN LISTS CMAKE_DL_LIBS)
  list(APPEND GMPI_LINK_cpu -l${library})
  list(APPEND GMPI_LINK_cuda -Wl,-l${library})
endforeach()
foreach(device IN LISTS GMPI_DEVICES)
  get_target_property(options gmpi_${device} INTERFACE_LINK_OPTIONS)
  if(options)
    list(APPEND GMPI_LINK_${device} ${options})
  endif()
endforeach()

# --- gmpi.conf --------------------------------------------------------------------------------------
# Lines "key: value", a key once for each value; $PREFIX is the folder that holds share/gmpi.
function(gmpi_write_conf file bin headers cpu_headers library_folder)
  set(lines "# Where this GMPI is and what it was built with. Made by CMake."
            "version: ${PROJECT_VERSION}" "bin: ${bin}" "host-compiler: ${CMAKE_CXX_COMPILER}"
            "mpi.family: ${GMPI_MPI_FAMILY}" "mpi.wrapper: ${GMPI_MPICXX_PATH}"
            "include: ${headers}" "cpu.include: ${cpu_headers}")
  foreach(pair "mpi.exec=GMPI_MPIEXEC" "nvcc=CUDAToolkit_NVCC_EXECUTABLE"
               "llvm-bin=LLVM_TOOLS_BINARY_DIR" "mpi.compile=GMPI_MPI_COMPILE_FLAGS"
               "mpi.link=GMPI_MPI_LINK_FLAGS" "flag=GMPI_SANITIZE_FLAGS" "device=GMPI_DEVICES"
               "cpu.link=GMPI_LINK_cpu" "cuda.link=GMPI_LINK_cuda")
    string(REPLACE "=" ";" pair "${pair}")
    list(GET pair 0 key)
    list(GET pair 1 variable)
    foreach(value IN LISTS ${variable})
      list(APPEND lines "${key}: ${value}")
    endforeach()
  endforeach()
  foreach(device IN LISTS GMPI_DEVICES)
    foreach(library IN LISTS GMPI_LIBRARIES_${device})
      list(APPEND lines "${device}.library: ${library_folder}/$<TARGET_FILE_NAME:${library}>")
    endforeach()
  endforeach()
  list(JOIN lines "\n" text)
  file(GENERATE OUTPUT "${file}" CONTENT "${text}\n")
endfunction()

set(GMPI_BUILD_CONF "${PROJECT_BINARY_DIR}/share/gmpi/gmpi.conf")
gmpi_write_conf("${GMPI_BUILD_CONF}" "$PREFIX/bin" "${PROJECT_SOURCE_DIR}/runtime/include"
                "${PROJECT_SOURCE_DIR}/runtime/cpu/include" "$PREFIX/lib")
gmpi_write_conf("${PROJECT_BINARY_DIR}/install/gmpi.conf" "$PREFIX/${CMAKE_INSTALL_BINDIR}"
                "$PREFIX/${GMPI_HEADER_DIR}/include" "$PREFIX/${GMPI_HEADER_DIR}/cpu/include"
                "$PREFIX/${CMAKE_INSTALL_LIBDIR}")
install(FILES "${PROJECT_BINARY_DIR}/install/gmpi.conf" DESTINATION "${GMPI_DATA_DIR}")

# --- headers, programs, test configuration, package -------------------------------------------------
install(DIRECTORY "${PROJECT_SOURCE_DIR}/runtime/" DESTINATION "${GMPI_HEADER_DIR}"
        FILES_MATCHING PATTERN "*.hpp" PATTERN "*.h" PATTERN "*.def")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/cmake/lit" DESTINATION "${GMPI_DATA_DIR}")
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}")

configure_package_config_file(cmake/GmpiConfig.cmake.in "${PROJECT_BINARY_DIR}/install/GmpiConfig.cmake"
                              INSTALL_DESTINATION "${GMPI_PACKAGE_DIR}"
                              PATH_VARS GMPI_DATA_DIR CMAKE_INSTALL_BINDIR)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/install/GmpiConfigVersion.cmake"
                                 COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/install/GmpiConfig.cmake"
              "${PROJECT_BINARY_DIR}/install/GmpiConfigVersion.cmake" cmake/GmpiMpi.cmake
              cmake/GmpiTranslate.cmake
        DESTINATION "${GMPI_PACKAGE_DIR}")
