// The stand-in's controls for scripts, which reach them by their names.
#include "kernels.h"
#include "stand_in.h"

#define WEFT_EXPORTED __attribute__((visibility("default")))

extern "C" {

WEFT_EXPORTED void weft_stand_in_fail(const char* symbol, int nth, int result, int for_ever) {
    weft_stand_in()->fail(symbol, nth, result, for_ever != 0);
}
WEFT_EXPORTED void weft_stand_in_succeed() { weft_stand_in()->succeed(); }
WEFT_EXPORTED void weft_stand_in_forget() { weft_stand_in()->reset(); }
WEFT_EXPORTED int weft_stand_in_calls(const char* symbol) { return weft_stand_in()->calls(symbol); }
WEFT_EXPORTED int weft_stand_in_failed_calls() { return weft_stand_in()->failed_calls(); }
WEFT_EXPORTED const char* weft_stand_in_log() {
    static thread_local std::string text;
    text.clear();
    for (const std::string& symbol : weft_stand_in()->log()) text += symbol + "\n";
    return text.c_str();
}
WEFT_EXPORTED int64_t weft_stand_in_live_bytes(int device) {
    return static_cast<int64_t>(weft_stand_in()->live_bytes(device));
}
WEFT_EXPORTED int64_t weft_stand_in_live_objects() { return weft_stand_in()->live_objects(); }
WEFT_EXPORTED int weft_stand_in_fault(int device) { return weft_stand_in()->fault(device); }
WEFT_EXPORTED void weft_stand_in_write_kernels(const char* path) { weft::stand_in::write_kernels(path); }
WEFT_EXPORTED void weft_stand_in_compile_kernels(const char* path) { weft::stand_in::compile_kernels(path); }

}  // extern "C"
