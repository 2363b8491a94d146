// The fake driver's controls for scripts, which reach them by their names.
#include "fake_driver.h"
#include "kernels.h"

#define WEFT_EXPORTED __attribute__((visibility("default")))

extern "C" {

WEFT_EXPORTED void weft_fake_driver_fail(const char* symbol, int nth, int result, int for_ever) {
    weft_fake_driver()->fail(symbol, nth, result, for_ever != 0);
}
WEFT_EXPORTED void weft_fake_driver_succeed() { weft_fake_driver()->succeed(); }
WEFT_EXPORTED void weft_fake_driver_forget() { weft_fake_driver()->reset(); }
WEFT_EXPORTED int weft_fake_driver_calls(const char* symbol) { return weft_fake_driver()->calls(symbol); }
WEFT_EXPORTED int weft_fake_driver_failed_calls() { return weft_fake_driver()->failed_calls(); }
WEFT_EXPORTED const char* weft_fake_driver_log() {
    static thread_local std::string text;
    text.clear();
    for (const std::string& symbol : weft_fake_driver()->log()) text += symbol + "\n";
    return text.c_str();
}
WEFT_EXPORTED int64_t weft_fake_driver_live_bytes(int device) {
    return static_cast<int64_t>(weft_fake_driver()->live_bytes(device));
}
WEFT_EXPORTED int64_t weft_fake_driver_live_objects() { return weft_fake_driver()->live_objects(); }
WEFT_EXPORTED int weft_fake_driver_fault(int device) { return weft_fake_driver()->fault(device); }
WEFT_EXPORTED void weft_fake_driver_write_kernels(const char* path) {
    weft::fake_driver::write_kernels(path);
}
WEFT_EXPORTED void weft_fake_driver_compile_kernels(const char* path) {
    weft::fake_driver::compile_kernels(path);
}

}  // extern "C"
