# The op room's share of the build: C++ generated from the op table, the ahead-of-time loops for each
# instruction set, and the bitcode for the kernel compiler.
find_package(Python3 3.11 REQUIRED COMPONENTS Interpreter)

set(WEFT_OP_GROUPS 0 1 2 3 4 5 math_0 math_1 random cast)
set(WEFT_OP_OUTPUTS ops/op_ids.inc ops/reduction_ids.inc ops/vector_math.inc op_table_data.cpp kernels_fold.inc folds.cpp
    operations.cpp weft/operations.h weft/dtypes.h)
foreach(group IN LISTS WEFT_OP_GROUPS)
    list(APPEND WEFT_OP_OUTPUTS kernels_${group}.inc loops_${group}.cpp bitcode_${group}.cpp)
endforeach()

# At configure time, since the lists of sources are wanted then; configured again when an input changes.
set(WEFT_OP_GENERATOR
    ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/tools/generate_ops.py --output ${WEFT_GENERATED_DIR})
execute_process(COMMAND ${WEFT_OP_GENERATOR} COMMAND_ERROR_IS_FATAL ANY)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
    tools/generate_ops.py src/ops/op_table.toml include/weft/scalar_types.def)
foreach(output IN LISTS WEFT_OP_OUTPUTS)
    if(NOT EXISTS ${WEFT_GENERATED_DIR}/${output})
        message(FATAL_ERROR "tools/generate_ops.py did not make ${output}: WEFT_OP_GROUPS differs from its own")
    endif()
endforeach()

# Compiles the loops of one group through textual LLVM IR, to which the vector math library is attached before they are
# vectorised, and what is rare behind branches afterwards.
function(weft_vector_math_object group isa result)
    if(isa STREQUAL "x86_64_v4")
        set(library avx512f)
        set(bits 512)
    else()
        set(library avx2)
        set(bits 256)
    endif()
    string(REGEX REPLACE "^x86_64_" "x86-64-" march ${isa})
    set(attach ${CMAKE_CURRENT_SOURCE_DIR}/tools/attach_vector_math.py)
    set(base ${WEFT_GENERATED_DIR}/vector_math/${isa}/loops_${group})
    file(MAKE_DIRECTORY ${WEFT_GENERATED_DIR}/vector_math/${isa})
    add_custom_command(
        OUTPUT ${base}.o
        COMMAND ${CMAKE_CXX_COMPILER} -std=c++20 -O2 -fPIC -fno-exceptions -ffp-contract=off -fno-math-errno -g0
                -Wall -Wextra -Werror -march=${march} -mprefer-vector-width=${bits} -DWEFT_ISA=${isa}
                -DWEFT_BRANCHES_LATER
                -I ${CMAKE_CURRENT_SOURCE_DIR}/include -I ${CMAKE_CURRENT_SOURCE_DIR}/src -I ${WEFT_GENERATED_DIR}
                -S -emit-llvm -Xclang -disable-llvm-passes
                -MD -MF ${base}.d -MT ${base}.o -o ${base}.plain.ll ${WEFT_GENERATED_DIR}/loops_${group}.cpp
        COMMAND ${Python3_EXECUTABLE} ${attach} ${base}.plain.ll ${base}.attached.ll --isa ${library}
        COMMAND ${CMAKE_CXX_COMPILER} -O2 -fPIC -Wno-pass-failed -S -emit-llvm -o ${base}.vectors.ll
                ${base}.attached.ll
        COMMAND ${Python3_EXECUTABLE} ${attach} ${base}.vectors.ll ${base}.ll --branches
        COMMAND ${CMAKE_CXX_COMPILER} -O2 -fPIC -ffunction-sections -c -o ${base}.o ${base}.ll
        DEPENDS ${WEFT_GENERATED_DIR}/loops_${group}.cpp ${attach}
        DEPFILE ${base}.d
        COMMENT "Compiling loops_${group} for ${isa} with vector math"
        VERBATIM)
    set_source_files_properties(${base}.o PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
    set(${result} ${base}.o PARENT_SCOPE)
endfunction()

# The loops are optimised in every build type: they are what small work runs on, and tests time out otherwise.
# Not every loop can be vectorised, which is no fault (-Wno-pass-failed). Without exceptions no handler is shared
# with objects for older machines.
set(WEFT_LOOP_FLAGS -O2 -fno-exceptions -Wno-pass-failed)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    set(WEFT_ISAS x86_64_v2 x86_64_v3 x86_64_v4)
else()
    set(WEFT_ISAS generic)
endif()
file(CONFIGURE OUTPUT ${WEFT_GENERATED_DIR}/searches.cpp CONTENT "#include \"ops/extreme_search_loop.h\"\n")
foreach(isa IN LISTS WEFT_ISAS)
    set(sources ${WEFT_GENERATED_DIR}/folds.cpp ${WEFT_GENERATED_DIR}/searches.cpp)
    foreach(group IN LISTS WEFT_OP_GROUPS)
        if(group MATCHES "^math_" AND isa MATCHES "_v[34]$")
            weft_vector_math_object(${group} ${isa} object)
            list(APPEND WEFT_GENERATED_SOURCES ${object})
        else()
            list(APPEND sources ${WEFT_GENERATED_DIR}/loops_${group}.cpp)
        endif()
    endforeach()
    add_library(weft_loops_${isa} OBJECT ${sources})
    target_include_directories(weft_loops_${isa} PRIVATE include src ${WEFT_GENERATED_DIR})
    target_compile_definitions(weft_loops_${isa} PRIVATE WEFT_ISA=${isa})
    # As everywhere, but for the instruction set.
    target_compile_options(weft_loops_${isa} PRIVATE ${WEFT_LOOP_FLAGS}
        $<FILTER:$<TARGET_PROPERTY:weft_flags,INTERFACE_COMPILE_OPTIONS>,EXCLUDE,^-march=>)
    if(isa MATCHES "^x86_64_(v[0-9])$")
        target_compile_options(weft_loops_${isa} PRIVATE -march=x86-64-${CMAKE_MATCH_1}
            $<$<STREQUAL:${CMAKE_MATCH_1},v4>:-mprefer-vector-width=512>)
    endif()
    list(APPEND WEFT_GENERATED_SOURCES $<TARGET_OBJECTS:weft_loops_${isa}>)
    string(TOUPPER ${isa} isa_upper)
    set_property(SOURCE ${WEFT_GENERATED_DIR}/op_table_data.cpp
        APPEND PROPERTY COMPILE_DEFINITIONS WEFT_HAS_${isa_upper})
endforeach()
list(APPEND WEFT_GENERATED_SOURCES ${WEFT_GENERATED_DIR}/op_table_data.cpp ${WEFT_GENERATED_DIR}/operations.cpp)

foreach(group IN LISTS WEFT_OP_GROUPS)
    weft_embed_bitcode(ops_${group} ${WEFT_GENERATED_DIR}/bitcode_${group}.cpp FLAGS -DWEFT_BRANCHES_LATER)
    weft_embed_ptx_bitcode(ptx_ops_${group} ${WEFT_GENERATED_DIR}/bitcode_${group}.cpp)
endforeach()

# weft's own functions for GPUs (ops/gpu/).
file(CONFIGURE OUTPUT ${WEFT_GENERATED_DIR}/bitcode_gpu_math.cpp CONTENT "#include \"ops/gpu/functions.h\"\n")
weft_embed_ptx_bitcode(gpu_math ${WEFT_GENERATED_DIR}/bitcode_gpu_math.cpp)
