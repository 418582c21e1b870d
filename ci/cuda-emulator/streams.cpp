// Streams and events. Everything is done by the time that a call returns, so a stream holds
// nothing and an event that was recorded has happened.

#include "ci/cuda-emulator/streams.hpp"

#include <chrono>
#include <set>

#include "ci/cuda-emulator/context.hpp"

namespace emulator {

using Clock = std::chrono::steady_clock;

struct Stream {
  Context* context;
  unsigned flags;
};

struct Event {
  unsigned flags;
  bool recorded = false;
  Clock::time_point when{};
};

namespace {

constexpr unsigned DISABLE_TIMING = 2;

std::set<const Stream*>& streams() {
  static auto& all = *new std::set<const Stream*>;
  return all;
}

std::set<const Event*>& events() {
  static auto& all = *new std::set<const Event*>;
  return all;
}

bool is_event(const Event* event) {
  const std::lock_guard lock(driver_mutex());
  return events().contains(event);
}

Result create(Stream** stream, unsigned flags) {
  Context* context = nullptr;
  if (const auto result = current(context); result != SUCCESS) return result;
  if (stream == nullptr || flags > 1) return INVALID_VALUE;
  const std::lock_guard lock(driver_mutex());
  *stream = new Stream{context, flags};
  streams().insert(*stream);
  return SUCCESS;
}

Result check(const Stream* stream) {
  Context* context = nullptr;
  if (const auto result = current(context); result != SUCCESS) return result;
  return is_stream(stream) ? SUCCESS : INVALID_HANDLE;
}

}  // namespace

bool is_stream(const Stream* stream) {
  constexpr std::uintptr_t PER_THREAD = 2;  // 0: default, 1: legacy
  if (reinterpret_cast<std::uintptr_t>(stream) <= PER_THREAD) return true;
  const std::lock_guard lock(driver_mutex());
  return streams().contains(stream);
}

EMULATED(cuStreamCreate, Stream** stream, unsigned flags) { return create(stream, flags); }

EMULATED(cuStreamCreateWithPriority, Stream** stream, unsigned flags, int) {
  return create(stream, flags);
}

EMULATED(cuStreamDestroy_v2, Stream* stream) {
  if (const auto result = ready(); result != SUCCESS) return result;
  const std::lock_guard lock(driver_mutex());
  if (streams().erase(stream) == 0) return INVALID_HANDLE;
  delete stream;
  return SUCCESS;
}
EMULATED_ENTRY(cuStreamDestroy, emulated_cuStreamDestroy_v2);

EMULATED(cuStreamSynchronize, Stream* stream) { return check(stream); }

EMULATED(cuStreamQuery, Stream* stream) { return check(stream); }

EMULATED(cuStreamGetCtx, Stream* stream, Context** context) {
  if (const auto result = check(stream); result != SUCCESS) return result;
  Context* mine = nullptr;
  if (const auto result = current(mine); result != SUCCESS) return result;
  const std::lock_guard lock(driver_mutex());
  *context = streams().contains(stream) ? stream->context : mine;
  return SUCCESS;
}

EMULATED(cuStreamIsCapturing, Stream* stream, int* status) {
  *status = 0;
  return check(stream);
}

EMULATED(cuStreamWaitEvent, Stream* stream, Event* event, unsigned) {
  if (const auto result = check(stream); result != SUCCESS) return result;
  return is_event(event) ? SUCCESS : INVALID_HANDLE;
}

EMULATED(cuStreamAddCallback, Stream* stream, void (*callback)(Stream*, Result, void*),
         void* argument, unsigned) {
  if (const auto result = check(stream); result != SUCCESS) return result;
  callback(stream, SUCCESS, argument);
  return SUCCESS;
}

EMULATED(cuLaunchHostFunc, Stream* stream, void (*function)(void*), void* argument) {
  if (const auto result = check(stream); result != SUCCESS) return result;
  function(argument);
  return SUCCESS;
}

EMULATED(cuEventCreate, Event** event, unsigned flags) {
  Context* context = nullptr;
  if (const auto result = current(context); result != SUCCESS) return result;
  if (event == nullptr) return INVALID_VALUE;
  const std::lock_guard lock(driver_mutex());
  *event = new Event{flags};
  events().insert(*event);
  return SUCCESS;
}

EMULATED(cuEventDestroy_v2, Event* event) {
  if (const auto result = ready(); result != SUCCESS) return result;
  const std::lock_guard lock(driver_mutex());
  if (events().erase(event) == 0) return INVALID_HANDLE;
  delete event;
  return SUCCESS;
}
EMULATED_ENTRY(cuEventDestroy, emulated_cuEventDestroy_v2);

EMULATED(cuEventRecord, Event* event, Stream* stream) {
  if (const auto result = check(stream); result != SUCCESS) return result;
  const std::lock_guard lock(driver_mutex());
  if (!is_event(event)) return INVALID_HANDLE;
  event->recorded = true;
  event->when = Clock::now();
  return SUCCESS;
}

EMULATED(cuEventQuery, Event* event) {
  if (const auto result = ready(); result != SUCCESS) return result;
  return is_event(event) ? SUCCESS : INVALID_HANDLE;
}

EMULATED(cuEventSynchronize, Event* event) {
  if (const auto result = ready(); result != SUCCESS) return result;
  return is_event(event) ? SUCCESS : INVALID_HANDLE;
}

EMULATED(cuEventElapsedTime, float* milliseconds, Event* start, Event* end) {
  if (const auto result = ready(); result != SUCCESS) return result;
  const std::lock_guard lock(driver_mutex());
  if (!is_event(start) || !is_event(end)) return INVALID_HANDLE;
  if (!start->recorded || !end->recorded || ((start->flags | end->flags) & DISABLE_TIMING) != 0) {
    return INVALID_HANDLE;
  }
  *milliseconds = std::chrono::duration<float, std::milli>(end->when - start->when).count();
  return SUCCESS;
}
EMULATED_ENTRY(cuEventElapsedTime_v2, emulated_cuEventElapsedTime);

}  // namespace emulator
