# Compiler, flags, linker and cache: what every target of weft is built with.
if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang" OR CMAKE_CXX_COMPILER_VERSION VERSION_LESS 19)
    message(FATAL_ERROR "weft is built by clang 19 or later, found ${CMAKE_CXX_COMPILER_ID} "
        "${CMAKE_CXX_COMPILER_VERSION}. Set CC=clang-19 CXX=clang++-19, or use a preset of CMakePresets.json.")
endif()

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_BUILD_RPATH_USE_ORIGIN ON)
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)

if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
set(CMAKE_C_FLAGS_RELEASE "-O2 -DNDEBUG")
set(CMAKE_CXX_FLAGS_DEBUG "-O1 -g")

find_program(CCACHE ccache)
if(CCACHE)
    set(CMAKE_C_COMPILER_LAUNCHER "${CCACHE}")
    set(CMAKE_CXX_COMPILER_LAUNCHER "${CCACHE}")
endif()

add_link_options(-fuse-ld=lld -Wl,--as-needed)

add_library(weft_flags INTERFACE)
# libstdc++ 12 itself uses what it deprecates (stable_sort), and clang reports it at the caller.
target_compile_options(weft_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:
    -Wall -Wextra -Werror -Wno-deprecated-declarations
    -ffp-contract=off -fno-math-errno
    -ffunction-sections -fdata-sections -fvisibility-inlines-hidden>)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    target_compile_options(weft_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-march=x86-64-v2>)
endif()

if(WEFT_SANITIZE)
    # -fsanitize=function reads the bytes before a called function, which compiled kernels need not have.
    add_compile_options(-fsanitize=${WEFT_SANITIZE} -fno-sanitize=function -fno-sanitize-recover=all
        -fno-omit-frame-pointer)
    add_link_options(-fsanitize=${WEFT_SANITIZE} -shared-libsan)
    set(WEFT_SANITIZER_RUNTIME "asan")
    if(WEFT_SANITIZE MATCHES "thread")
        set(WEFT_SANITIZER_RUNTIME "tsan")
    endif()
    execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=libclang_rt.${WEFT_SANITIZER_RUNTIME}-x86_64.so
        OUTPUT_VARIABLE WEFT_SANITIZER_FILE OUTPUT_STRIP_TRAILING_WHITESPACE)
    cmake_path(GET WEFT_SANITIZER_FILE PARENT_PATH WEFT_SANITIZER_DIR)
    add_link_options(-Wl,-rpath,${WEFT_SANITIZER_DIR})
    file(WRITE "${CMAKE_BINARY_DIR}/sanitizer-runtime.txt" "${WEFT_SANITIZER_FILE}\n")
endif()
