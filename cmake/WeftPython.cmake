# The binding weft._core and the built package directory.
if(SKBUILD)
    find_package(Python 3.11 REQUIRED COMPONENTS Interpreter ${SKBUILD_SABI_COMPONENT} Development.Module)
else()
    find_package(Python 3.11 REQUIRED COMPONENTS Interpreter Development.Module OPTIONAL_COMPONENTS Development.SABIModule)
endif()
execute_process(COMMAND "${Python_EXECUTABLE}" -m nanobind --cmake_dir
    OUTPUT_VARIABLE nanobind_ROOT OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
find_package(nanobind CONFIG REQUIRED)

# Tables of the binding, from the table of public functions; configured again when it changes.
execute_process(COMMAND ${Python_EXECUTABLE} "${CMAKE_CURRENT_SOURCE_DIR}/tools/generate_functions.py"
    --output "${WEFT_GENERATED_DIR}" COMMAND_ERROR_IS_FATAL ANY)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS tools/generate_functions.py python/functions.toml)

file(GLOB_RECURSE binding_sources CONFIGURE_DEPENDS "python/bindings/*.cpp")
set_source_files_properties(python/bindings/module.cpp PROPERTIES COMPILE_DEFINITIONS WEFT_VERSION="${PROJECT_VERSION}")
# Where Python has no GIL the module needs none.
nanobind_add_module(_core STABLE_ABI FREE_THREADED NB_STATIC NOMINSIZE ${binding_sources} src/core/memory/wrapped_allocation.cpp)
target_link_libraries(_core PRIVATE weft)
target_include_directories(_core PRIVATE python/bindings "${WEFT_GENERATED_DIR}")
weft_wrap_allocation(_core)
set_target_properties(_core PROPERTIES LIBRARY_OUTPUT_DIRECTORY "${WEFT_PACKAGE_DIR}"
    BUILD_RPATH "\$ORIGIN" INSTALL_RPATH "\$ORIGIN")

# Links to the package's own files; a file that is gone from the tree is gone here as well.
file(GLOB package_files CONFIGURE_DEPENDS "python/weft/*")
file(MAKE_DIRECTORY "${WEFT_PACKAGE_DIR}")
file(GLOB built_files "${WEFT_PACKAGE_DIR}/*")
foreach(path IN LISTS built_files)
    if(IS_SYMLINK "${path}" AND NOT EXISTS "${path}")
        file(REMOVE "${path}")
    endif()
endforeach()
foreach(path IN LISTS package_files)
    cmake_path(GET path FILENAME name)
    if(NOT name STREQUAL "__pycache__")
        file(CREATE_LINK "${path}" "${WEFT_PACKAGE_DIR}/${name}" SYMBOLIC)
    endif()
endforeach()
