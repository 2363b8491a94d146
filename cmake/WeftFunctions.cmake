# Machine code of large functions of weft.jit's, beside the engine (src/codegen/service/shared_code.h). It is made by
# what was just built, and again after each change of the engine.
option(WEFT_SHIPS_FUNCTIONS "Compile the functions that weft.jit has for NumPy's beforehand" ON)
if(NOT WEFT_SHIPS_FUNCTIONS OR NOT CMAKE_BUILD_TYPE STREQUAL "Release" OR WEFT_SANITIZE)
    return()
endif()

# Of a wheel they have to run on any machine, of a build on this one.
set(WEFT_FUNCTION_CPUS --host)
if(SKBUILD)
    set(WEFT_FUNCTION_CPUS "")
endif()
set(WEFT_FUNCTION_PACK "${WEFT_PACKAGE_DIR}/libweft.functions")
set(WEFT_FUNCTION_TABLE "${CMAKE_CURRENT_SOURCE_DIR}/tests/python/jit/arrays/test_numpy_functions.py")
add_custom_command(OUTPUT "${WEFT_FUNCTION_PACK}"
    COMMAND ${CMAKE_COMMAND} -E env "PYTHONPATH=${CMAKE_BINARY_DIR}/python" PYTHONDONTWRITEBYTECODE=1
        "${Python_EXECUTABLE}" "${CMAKE_CURRENT_SOURCE_DIR}/tools/pack_functions.py" ${WEFT_FUNCTION_CPUS}
        "${WEFT_FUNCTION_TABLE}" "${WEFT_FUNCTION_PACK}"
    DEPENDS weft _core tools/pack_functions.py "${WEFT_FUNCTION_TABLE}"
    COMMENT "Compiling functions of weft.jit" VERBATIM)
add_custom_target(weft_functions ALL DEPENDS "${WEFT_FUNCTION_PACK}")
install(FILES "${WEFT_FUNCTION_PACK}" DESTINATION "${WEFT_INSTALL_LIBRARY}")
