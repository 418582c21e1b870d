// Preloaded into ranks: STEP_AT says when the ranks that STEP_RANKS names ("0,1") see
// CLOCK_MONOTONIC jump ahead by STEP_MS, in their first sleep of 20 ms, which is the calibration
// ("begin"), or with their STEP_AT-th tag message. It stays ahead.
// Preloaded beside fault.cpp: once the rank has acted (FAULT_FOLDER/acted), the time of day is
// another one for all processes of the run, by FAULT_ACTION=step:SECONDS. Apart, because sanitizers
// ask for the time before anything else can run.

#include <dlfcn.h>
#include <sys/time.h>
#include <ucp/api/ucp.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>

#include "shim.hpp"

namespace {

/// By how much the time of day is another one now.
time_t clock_step() {
  static const auto action = variable("FAULT_ACTION");
  static const auto acted = variable("FAULT_FOLDER") + "/acted";
  if (!action.starts_with("step:") || access(acted.c_str(), F_OK) != 0) return 0;
  return std::atol(action.c_str() + std::strlen("step:"));
}

std::atomic<bool> jumped{false};

bool steps(const std::string& when) {
  static const char* rank = std::getenv("UCXBENCH_INTERNAL_RANK");
  static const auto ranks = "," + variable("STEP_RANKS") + ",";
  static const auto at = variable("STEP_AT");
  return rank != nullptr && at == when &&
         ranks.find("," + std::string(rank) + ",") != std::string::npos;
}

void jump(timespec& now) {
  static const auto ns = std::atoll(variable("STEP_MS").c_str()) * 1'000'000;
  const auto sum = now.tv_nsec + ns;
  now.tv_sec += sum / 1'000'000'000;
  now.tv_nsec = sum % 1'000'000'000;
}

}  // namespace

extern "C" {

int nanosleep(const timespec* wanted, timespec* left) {
  static const auto real = next<int(const timespec*, timespec*)>("nanosleep");
  static const bool here = steps("begin");
  const int error = real(wanted, left);
  if (here && wanted->tv_sec == 0 && wanted->tv_nsec == 20'000'000) jumped = true;
  return error;
}

ucs_status_ptr_t ucp_tag_send_nbx(ucp_ep_h endpoint, const void* buffer, size_t count,
                                  ucp_tag_t tag, const ucp_request_param_t* parameters) {
  static const auto real = next<decltype(ucp_tag_send_nbx)>("ucp_tag_send_nbx");
  static std::uint64_t sent = 0;
  if (!jumped && steps(std::to_string(++sent))) jumped = true;
  return real(endpoint, buffer, count, tag, parameters);
}

int clock_gettime(clockid_t clock, timespec* now) noexcept {
  static const auto real = next<int(clockid_t, timespec*)>("clock_gettime");
  const int error = real(clock, now);
  if (error == 0 && clock == CLOCK_REALTIME) now->tv_sec += clock_step();
  if (error == 0 && clock == CLOCK_MONOTONIC && jumped) jump(*now);
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
