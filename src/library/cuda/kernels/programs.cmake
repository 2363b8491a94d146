# The programs of GPUs that weft brings (programs.def): their sources, and for the tests the list of them.
foreach(bits 8 16 32 64)
    foreach(kind sort argsort)
        set(pairs 0)
        if(kind STREQUAL argsort)
            set(pairs 1)
        endif()
        weft_embed_gpu_program(${kind}_${bits} src/library/cuda/kernels/sort_program.cpp
            DEFINES WEFT_KEY_BITS=${bits} WEFT_PAIRS=${pairs})
        weft_embed_gpu_program(${kind}_rows_${bits} src/library/cuda/kernels/sort_program.cpp
            DEFINES WEFT_KEY_BITS=${bits} WEFT_PAIRS=${pairs} WEFT_ROWS=1)
    endforeach()
endforeach()
foreach(name search choose count)
    weft_embed_gpu_program(${name} src/library/cuda/kernels/${name}_program.cpp)
endforeach()
weft_embed_gpu_program(complex_keys src/library/cuda/kernels/complex_keys_program.cpp)
