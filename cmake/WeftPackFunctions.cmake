# Runs tools/pack_functions.py (cmake/WeftFunctions.cmake). A build does not fail where that does.
set(ENV{PYTHONPATH} "${PACKAGES}")
set(ENV{PYTHONDONTWRITEBYTECODE} 1)
execute_process(COMMAND "${PYTHON}" "${TOOL}" ${CPUS} "${TABLE}" "${PACK}" RESULT_VARIABLE result ERROR_VARIABLE errors)
if(NOT result EQUAL 0)
    message(WARNING "libweft.functions has no functions, which weft.jit compiles when they are called:\n${result}\n${errors}")
    file(WRITE "${PACK}" "")
endif()
