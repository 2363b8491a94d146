// Threads that share out the elements of arrays, each going over them in steps of the grid's size:
//
//   for %t in threads { for %k = 0 to %n(%t) { … a[%t + %k * %size] … } }
//                                       →    for %k { for %t in threads { … a[%t + %k * %size] … } }
//
// One thread after another would go through all of memory for each. Together they read what lies side by
// side, and their loop is made of vectors. What a thread carries from one of its elements to the next waits
// in a local array with a place for each.
#pragma once

#include "ir/ir.h"

namespace weft::passes {

void thread_strides(const ir::Module& module, ir::Function& function);

}  // namespace weft::passes
