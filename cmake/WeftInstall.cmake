# What `cmake --install` puts where. As a C++ library: the engine in lib/, the libraries that it opens in lib/weft/,
# the public headers in include/weft/ and the package for find_package(weft) in lib/cmake/weft/. In a wheel, all of
# it lies in the folder of the Python package: headers in weft/include/, the package in weft/cmake/.
include(CMakePackageConfigHelpers)

if(SKBUILD)
    set(WEFT_INSTALL_LIBRARY weft)
    set(WEFT_INSTALL_BESIDE weft)
    set(WEFT_INSTALL_INCLUDE weft/include)
    set(WEFT_INSTALL_CMAKE weft/cmake)
    install(TARGETS _core LIBRARY DESTINATION weft)
    # Beside the package, where Python looks for .pth files: WEFT_INSTALL=1 installs weft in new processes.
    install(FILES python/startup/weft-install.pth python/startup/_weft_install.py DESTINATION .)
else()
    include(GNUInstallDirs)
    set(WEFT_INSTALL_LIBRARY "${CMAKE_INSTALL_LIBDIR}")
    set(WEFT_INSTALL_BESIDE "${CMAKE_INSTALL_LIBDIR}/weft")
    set(WEFT_INSTALL_INCLUDE "${CMAKE_INSTALL_INCLUDEDIR}")
    set(WEFT_INSTALL_CMAKE "${CMAKE_INSTALL_LIBDIR}/cmake/weft")
endif()

target_include_directories(weft INTERFACE $<INSTALL_INTERFACE:${WEFT_INSTALL_INCLUDE}>)
install(TARGETS weft EXPORT weft LIBRARY DESTINATION "${WEFT_INSTALL_LIBRARY}")
install(DIRECTORY include/weft "${WEFT_GENERATED_DIR}/weft" DESTINATION "${WEFT_INSTALL_INCLUDE}"
    FILES_MATCHING PATTERN "*.h" PATTERN "*.def")
install(FILES "${WEFT_SLEEF_FILE}" DESTINATION "${WEFT_INSTALL_BESIDE}" RENAME "${WEFT_SLEEF_SONAME}")
if(WEFT_OPENBLAS_FILE)
    install(FILES "${WEFT_OPENBLAS_FILE}" DESTINATION "${WEFT_INSTALL_BESIDE}" RENAME "${WEFT_OPENBLAS_NAME}")
endif()

install(EXPORT weft NAMESPACE weft:: FILE weftTargets.cmake DESTINATION "${WEFT_INSTALL_CMAKE}")
configure_package_config_file(cmake/weftConfig.cmake.in "${CMAKE_BINARY_DIR}/weftConfig.cmake"
    INSTALL_DESTINATION "${WEFT_INSTALL_CMAKE}" NO_SET_AND_CHECK_MACRO)
# Until 1.0, another minor version may be another interface.
write_basic_package_version_file("${CMAKE_BINARY_DIR}/weftConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${CMAKE_BINARY_DIR}/weftConfig.cmake" "${CMAKE_BINARY_DIR}/weftConfigVersion.cmake"
    DESTINATION "${WEFT_INSTALL_CMAKE}")
