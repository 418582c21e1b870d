#pragma once

#include <dlfcn.h>

namespace ucxbench {

/// Looks up a function of a library that dlopen() has loaded; null, and false, where it has none of
/// that name. Nothing checks the type: it is what the library's documents say.
template <typename Function>
bool find_function(void* library, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(::dlsym(library, name));
  return function != nullptr;
}

}  // namespace ucxbench
