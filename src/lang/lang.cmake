# The prelude as trees, which tools/pack_prelude.py makes of it.
find_package(Python3 3.11 REQUIRED COMPONENTS Interpreter)
file(GLOB WEFT_PRELUDE CONFIGURE_DEPENDS src/lang/prelude/*.py python/weft/_jit/*.py)
set(WEFT_PRELUDE_TABLE ${WEFT_GENERATED_DIR}/lang/prelude.inc)
add_custom_command(
    OUTPUT ${WEFT_PRELUDE_TABLE}
    COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/tools/pack_prelude.py --output ${WEFT_PRELUDE_TABLE}
    COMMAND ${CMAKE_COMMAND} -E touch ${WEFT_PRELUDE_TABLE}
    DEPENDS tools/pack_prelude.py src/library/called/functions.def ${WEFT_PRELUDE}
    COMMENT "Packing the prelude of compiled functions")
list(APPEND WEFT_GENERATED_SOURCES ${WEFT_PRELUDE_TABLE})
