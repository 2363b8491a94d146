# The headers of ducc0's Fourier transforms, which files of src/library/fft/cpu/ include: WEFT_DUCC0 is the folder that
# has ducc0/fft/fft.h in it. Without one that is given, tools/fetch_ducc0.py brings them from PyPI.
if(NOT DEFINED CACHE{WEFT_DUCC0})
    find_package(Python 3.11 QUIET COMPONENTS Interpreter)
    execute_process(COMMAND "${Python_EXECUTABLE}" "${CMAKE_CURRENT_SOURCE_DIR}/tools/fetch_ducc0.py"
        OUTPUT_VARIABLE ducc0 OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
    set(WEFT_DUCC0 "${ducc0}" CACHE PATH "The folder with ducc0's headers")
endif()
if(NOT EXISTS "${WEFT_DUCC0}/ducc0/fft/fft.h")
    message(FATAL_ERROR "no ducc0/fft/fft.h in WEFT_DUCC0, ${WEFT_DUCC0}")
endif()

# src/library/fft/cpu/rows_<instruction set>.cpp, which include them. Two of these are compiled for processors with AVX2 and
# AVX-512 as a whole, standard headers and all. So they are a library of their own, which is linked behind everything else:
# of an inline function that other files have too, the linker takes the first, which runs everywhere.
add_library(weft_vector_transforms STATIC ${WEFT_VECTOR_TRANSFORMS})
target_include_directories(weft_vector_transforms PRIVATE include src)
target_include_directories(weft_vector_transforms SYSTEM PRIVATE "${WEFT_DUCC0}")
target_link_libraries(weft_vector_transforms PRIVATE weft_flags)
target_compile_definitions(weft_vector_transforms PRIVATE $<$<BOOL:${WEFT_VERIFY}>:WEFT_VERIFY=1>)
weft_wrap_allocation(weft_vector_transforms)
foreach(file IN LISTS WEFT_VECTOR_TRANSFORMS)
    if(file MATCHES "_avx2")
        set_source_files_properties("${file}" PROPERTIES COMPILE_OPTIONS -march=x86-64-v3)
    elseif(file MATCHES "_avx512")
        set_source_files_properties("${file}" PROPERTIES COMPILE_OPTIONS -march=x86-64-v4)
    endif()
endforeach()
