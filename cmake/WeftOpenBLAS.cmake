# OpenBLAS from the scipy-openblas64 package: a shared library that needs nothing but libc. The engine opens it at the
# first product (src/library/products/cpu/blas.cpp), so nothing links it; it only has to lie beside the engine.
# WEFT_OPENBLAS_FILE names another file; empty when there is none, and then weft's own loops do the products.
if(NOT DEFINED CACHE{WEFT_OPENBLAS_FILE})
    find_package(Python 3.11 QUIET COMPONENTS Interpreter)
    if(Python_EXECUTABLE)
        execute_process(
            COMMAND "${Python_EXECUTABLE}" -c
                "import glob, os, scipy_openblas64 as p; print(glob.glob(os.path.join(p.get_lib_dir(), 'lib*.so'))[0])"
            OUTPUT_VARIABLE openblas_file OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    endif()
    if(NOT openblas_file)
        message(WARNING "no scipy-openblas64 package: matrix products run on weft's own loops")
    endif()
    set(WEFT_OPENBLAS_FILE "${openblas_file}" CACHE FILEPATH "OpenBLAS with 64-bit integers, to lie beside the engine")
endif()
set(WEFT_OPENBLAS_NAME "libscipy_openblas64_.so")

# weft_place_openblas(directory): a link beside the built engine.
function(weft_place_openblas directory)
    if(WEFT_OPENBLAS_FILE)
        file(MAKE_DIRECTORY "${directory}")
        file(CREATE_LINK "${WEFT_OPENBLAS_FILE}" "${directory}/${WEFT_OPENBLAS_NAME}" SYMBOLIC)
    endif()
endfunction()
