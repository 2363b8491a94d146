# SLEEF, the vector maths library: weft_sleef. Compiled kernels call it by name, so the engine must load it
# although no symbol is referenced at link time.
find_library(WEFT_SLEEF_LIBRARY NAMES sleef REQUIRED)
find_path(WEFT_SLEEF_INCLUDE NAMES sleef.h REQUIRED)
get_filename_component(WEFT_SLEEF_FILE "${WEFT_SLEEF_LIBRARY}" REALPATH)

execute_process(COMMAND ${CMAKE_READELF} -d "${WEFT_SLEEF_FILE}" OUTPUT_VARIABLE dynamic_section)
string(REGEX MATCH "SONAME[^\n]*\\[([^]\n]*)\\]" soname_line "${dynamic_section}")
set(WEFT_SLEEF_SONAME "${CMAKE_MATCH_1}")
if(NOT WEFT_SLEEF_SONAME)
    message(FATAL_ERROR "no SONAME in ${WEFT_SLEEF_FILE}")
endif()

add_library(weft_sleef INTERFACE)
target_include_directories(weft_sleef SYSTEM INTERFACE "${WEFT_SLEEF_INCLUDE}")
target_link_libraries(weft_sleef INTERFACE
    -Wl,--push-state,--no-as-needed "${WEFT_SLEEF_LIBRARY}" -Wl,--pop-state)
