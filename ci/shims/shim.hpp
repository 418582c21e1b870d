#pragma once

// What several of the libraries that tests preload need.

#include <dlfcn.h>

#include <cstdlib>
#include <string>

/// The environment's value of that name; empty where there is none.
inline std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// The function that the program would have called without this library. Of each library its own:
/// shared by two that are preloaded together, it would find the second one's from both.
template <typename Function>
static Function* next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}
