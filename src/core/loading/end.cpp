// Linked behind everything else in libweft.so, so that it runs last (CMakeLists.txt).
#include "core/loading/loading.h"

namespace {

[[gnu::constructor]] void end() { weft::end_loading(); }

}  // namespace
