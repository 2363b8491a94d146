# Machine code of large functions of weft.jit's, beside the engine (src/codegen/service/shared_code.h). It is made by
# what was just built, and again after each change of the engine. Where that cannot be, the file has no functions:
# programs compile them.
option(WEFT_SHIPS_FUNCTIONS "Compile the functions that weft.jit has for NumPy's beforehand" ON)
set(WEFT_FUNCTION_TABLE "${CMAKE_CURRENT_SOURCE_DIR}/src/lang/prelude/shipped.txt")
if(NOT WEFT_SHIPS_FUNCTIONS OR NOT CMAKE_BUILD_TYPE STREQUAL "Release" OR WEFT_SANITIZE OR WEFT_VERIFY
        OR CMAKE_CROSSCOMPILING)
    return()
endif()

# Of a wheel they have to run on any machine, of a build on this one.
set(WEFT_FUNCTION_CPUS --host)
if(SKBUILD)
    set(WEFT_FUNCTION_CPUS "")
endif()
set(WEFT_FUNCTION_PACK "${WEFT_PACKAGE_DIR}/libweft.functions")
add_custom_command(OUTPUT "${WEFT_FUNCTION_PACK}"
    COMMAND ${CMAKE_COMMAND} "-DPYTHON=${Python_EXECUTABLE}" "-DPACKAGES=${CMAKE_BINARY_DIR}/python"
        "-DTOOL=${CMAKE_CURRENT_SOURCE_DIR}/tools/pack_functions.py" "-DCPUS=${WEFT_FUNCTION_CPUS}"
        "-DTABLE=${WEFT_FUNCTION_TABLE}" "-DPACK=${WEFT_FUNCTION_PACK}"
        -P "${CMAKE_CURRENT_SOURCE_DIR}/cmake/WeftPackFunctions.cmake"
    DEPENDS weft _core tools/pack_functions.py cmake/WeftPackFunctions.cmake "${WEFT_FUNCTION_TABLE}"
    COMMENT "Compiling functions of weft.jit" VERBATIM)
add_custom_target(weft_functions ALL DEPENDS "${WEFT_FUNCTION_PACK}")
install(FILES "${WEFT_FUNCTION_PACK}" DESTINATION "${WEFT_INSTALL_LIBRARY}")
