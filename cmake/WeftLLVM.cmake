# LLVM 19, linked statically: weft_llvm. Only src/codegen includes its headers.
find_program(LLVM_CONFIG NAMES llvm-config-19 REQUIRED)

set(WEFT_LLVM_COMPONENTS core support analysis passes orcjit linker bitreader bitwriter irreader
    x86 nvptx instcombine scalaropts vectorize ipo target mc)

function(weft_llvm_config result)
    execute_process(COMMAND ${LLVM_CONFIG} ${ARGN} OUTPUT_VARIABLE output OUTPUT_STRIP_TRAILING_WHITESPACE
        COMMAND_ERROR_IS_FATAL ANY)
    set(${result} "${output}" PARENT_SCOPE)
endfunction()

weft_llvm_config(llvm_include --includedir)
weft_llvm_config(llvm_libraries --link-static --libfiles ${WEFT_LLVM_COMPONENTS})
separate_arguments(llvm_libraries UNIX_COMMAND "${llvm_libraries}")

# LLVM's support library compresses with these; their archives keep the wheel free of further packages.
find_library(WEFT_ZLIB NAMES libz.a z REQUIRED)
find_library(WEFT_ZSTD NAMES libzstd.a zstd REQUIRED)

add_library(weft_llvm INTERFACE)
target_include_directories(weft_llvm SYSTEM INTERFACE "${llvm_include}")
target_link_libraries(weft_llvm INTERFACE ${llvm_libraries} ${WEFT_ZLIB} ${WEFT_ZSTD} rt m)
