# weft_embed_bitcode(name source [TARGET triple] [FLAGS ...]): compiles a freestanding C++ source to LLVM bitcode, for
# x86-64 if nothing else is said, and puts its bytes into libweft as
#     extern "C" const unsigned char weft_bitcode_<name>[];
#     extern "C" const std::uint64_t weft_bitcode_<name>_size;
# Generated sources are made before; what the source includes is tracked. As before linking, where optimisation is to go
# on (-flto=thin): whether an argument is a constant is not decided yet.
function(weft_embed_bitcode name source)
    cmake_parse_arguments(PARSE_ARGV 2 arg "" "TARGET" "FLAGS;DEPENDS")
    if(NOT arg_TARGET)
        set(arg_TARGET x86_64-unknown-linux-gnu)
    endif()
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}")
    set(directory "${WEFT_GENERATED_DIR}/bitcode")
    file(MAKE_DIRECTORY "${directory}")
    set(bitcode "${directory}/${name}.bc")
    set(assembly "${directory}/${name}.S")

    add_custom_command(
        OUTPUT "${bitcode}"
        COMMAND ${CMAKE_CXX_COMPILER} -std=c++20 --target=${arg_TARGET} -emit-llvm -c -O2 -flto=thin
                -ffreestanding -fno-exceptions -fno-rtti -ffp-contract=off -fno-math-errno
                -fno-vectorize -fno-slp-vectorize -fno-unroll-loops -fno-ident -g0
                -Wall -Wextra -Werror
                -I "${CMAKE_SOURCE_DIR}/include" -I "${CMAKE_SOURCE_DIR}/src" -I "${WEFT_GENERATED_DIR}"
                ${arg_FLAGS} -MD -MF "${bitcode}.d" -MT "${bitcode}" -o "${bitcode}" "${source}"
        DEPENDS "${source}" ${arg_DEPENDS}
        DEPFILE "${bitcode}.d"
        COMMENT "Compiling ${name} to bitcode"
        VERBATIM)

    file(CONFIGURE OUTPUT "${assembly}" @ONLY CONTENT [[
    .section .rodata
    .balign 16
    .globl weft_bitcode_@name@
    .type weft_bitcode_@name@, @object
weft_bitcode_@name@:
    .incbin "@bitcode@"
.Lend:
    .size weft_bitcode_@name@, .Lend - weft_bitcode_@name@
    .balign 8
    .globl weft_bitcode_@name@_size
    .type weft_bitcode_@name@_size, @object
    .size weft_bitcode_@name@_size, 8
weft_bitcode_@name@_size:
    .quad .Lend - weft_bitcode_@name@
    .section .note.GNU-stack, "", @progbits
]])
    set_source_files_properties("${assembly}" PROPERTIES OBJECT_DEPENDS "${bitcode}")
    set(WEFT_GENERATED_SOURCES ${WEFT_GENERATED_SOURCES} "${assembly}" PARENT_SCOPE)
endfunction()

# weft_embed_ptx_bitcode(name source): the same for NVIDIA GPUs, without any of CUDA. The few headers of the standard
# library that the source includes are the host's, which ask what machine that is.
function(weft_embed_ptx_bitcode name source)
    set(flags -D__${CMAKE_SYSTEM_PROCESSOR}__)
    foreach(directory IN LISTS CMAKE_CXX_IMPLICIT_INCLUDE_DIRECTORIES)
        list(APPEND flags -isystem ${directory})
    endforeach()
    weft_embed_bitcode(${name} ${source} TARGET nvptx64-nvidia-cuda FLAGS ${flags})
    set(WEFT_GENERATED_SOURCES ${WEFT_GENERATED_SOURCES} PARENT_SCOPE)
endfunction()

# weft_embed_gpu_program(name source [HOPPER] [FEW_UNROLLED] [DEFINES ...]): compiles kernels in C++
# (library/*/cuda/*_program.cpp) to PTX text, without any of CUDA, and puts it into libweft as weft_gpu_program_<name>, with a
# zero byte at its end. HOPPER: for sm_90a alone, whose instructions later GPUs do not have. FEW_UNROLLED: only loops that
# vanish by it are.
function(weft_embed_gpu_program name source)
    cmake_parse_arguments(PARSE_ARGV 2 arg "HOPPER;FEW_UNROLLED" "" "DEFINES")
    set(target --cuda-gpu-arch=sm_80 --cuda-feature=+ptx70)
    if(arg_HOPPER)
        set(target --cuda-gpu-arch=sm_90a --cuda-feature=+ptx80)
    endif()
    if(arg_FEW_UNROLLED)
        list(APPEND target -mllvm -unroll-runtime=false -mllvm -unroll-allow-partial=false)
    endif()
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}")
    set(directory "${WEFT_GENERATED_DIR}/programs")
    file(MAKE_DIRECTORY "${directory}")
    set(ptx "${directory}/${name}.ptx")
    set(assembly "${directory}/${name}.S")
    list(TRANSFORM arg_DEFINES PREPEND -D)
    # The language is CUDA's for its entries, shared memory and bounds alone. All is inlined: arguments stay out of memory.
    add_custom_command(
        OUTPUT "${ptx}"
        COMMAND ${CMAKE_CXX_COMPILER} -x cuda --cuda-device-only -nocudainc -nocudalib --cuda-path=/nonexistent
                ${target} -std=c++20 -O3 -S
                -ffreestanding -fno-exceptions -fno-rtti -ffp-contract=off -mllvm -inline-threshold=100000
                -Wall -Wextra -Werror -I "${CMAKE_SOURCE_DIR}/src" ${arg_DEFINES}
                -MD -MF "${ptx}.d" -MT "${ptx}" -o "${ptx}" "${source}"
        DEPENDS "${source}"
        DEPFILE "${ptx}.d"
        COMMENT "Compiling ${name} to PTX"
        VERBATIM)
    file(CONFIGURE OUTPUT "${assembly}" @ONLY CONTENT [[
    .section .rodata
    .globl weft_gpu_program_@name@
    .type weft_gpu_program_@name@, @object
weft_gpu_program_@name@:
    .incbin "@ptx@"
    .byte 0
.Lend:
    .size weft_gpu_program_@name@, .Lend - weft_gpu_program_@name@
    .section .note.GNU-stack, "", @progbits
]])
    set_source_files_properties("${assembly}" PROPERTIES OBJECT_DEPENDS "${ptx}")
    set(WEFT_GENERATED_SOURCES ${WEFT_GENERATED_SOURCES} "${assembly}" PARENT_SCOPE)
    # For the tests, which compile them for the CPU.
    set_property(GLOBAL APPEND PROPERTY WEFT_GPU_PROGRAMS ${name})
    set_property(GLOBAL PROPERTY WEFT_GPU_PROGRAM_SOURCE_${name} "${source}")
    set_property(GLOBAL PROPERTY WEFT_GPU_PROGRAM_FLAGS_${name} ${arg_DEFINES})
endfunction()
