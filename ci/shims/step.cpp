// Preloaded beside fault.cpp: once the rank has acted (FAULT_FOLDER/acted), the time of day is
// another one for all processes of the run, by FAULT_ACTION=step:SECONDS. Apart, because sanitizers
// ask for the time before anything else can run.

#include <dlfcn.h>
#include <sys/time.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>

namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

template <typename Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

/// By how much the time of day is another one now.
time_t clock_step() {
  static const auto action = variable("FAULT_ACTION");
  static const auto acted = variable("FAULT_FOLDER") + "/acted";
  if (!action.starts_with("step:") || access(acted.c_str(), F_OK) != 0) return 0;
  return std::atol(action.c_str() + std::strlen("step:"));
}

}  // namespace

extern "C" {

int clock_gettime(clockid_t clock, timespec* now) noexcept {
  static const auto real = next<int(clockid_t, timespec*)>("clock_gettime");
  const int error = real(clock, now);
  if (error == 0 && clock == CLOCK_REALTIME) now->tv_sec += clock_step();
  return error;
}

int gettimeofday(timeval* now, void* zone) noexcept {
  static const auto real = next<int(timeval*, void*)>("gettimeofday");
  const int error = real(now, zone);
  now->tv_sec += clock_step();
  return error;
}

time_t time(time_t* now) noexcept {
  static const auto real = next<time_t(time_t*)>("time");
  const time_t stepped = real(nullptr) + clock_step();
  if (now != nullptr) *now = stepped;
  return stepped;
}

}  // extern "C"
