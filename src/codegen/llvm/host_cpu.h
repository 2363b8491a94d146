// The CPU of this machine, as LLVM knows it (codegen/llvm/target.cpp).
#pragma once

#include <string>

namespace weft::codegen {

std::string host_cpu();  // what the machine's CPU is called, for messages and cache keys
std::string host_features();
bool runs_on_host(const std::string& cpu);  // whether the host has every feature of that CPU; "" is the host

}  // namespace weft::codegen
