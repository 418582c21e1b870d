#include "ci/cuda-emulator/context.hpp"

#include <pthread.h>

#include <array>
#include <cstdlib>
#include <type_traits>

#include "ci/cuda-emulator/machine.hpp"
#include "ci/cuda-emulator/memory.hpp"

namespace emulator {
namespace {

bool initialized = false;
bool is_forked_child = false;
int fork_count = 0;
unsigned long long last_id = 0;

// Contexts are never freed: whoever uses a destroyed one shall be told so.
std::array<Context, MAX_DEVICES>& primaries() {
  static auto& contexts = *[] {
    auto* made = new std::array<Context, MAX_DEVICES>{};
    for (int device = 0; device < MAX_DEVICES; ++device) {
      (*made)[device].device = device;
      (*made)[device].primary = true;
    }
    return made;
  }();
  return contexts;
}

std::set<Context*>& created() {
  static auto& contexts = *new std::set<Context*>;
  return contexts;
}

/// A thread's contexts. Without a destructor: UCX still calls from destructors that run after those
/// of the thread.
class Stack {
 public:
  bool empty() const { return depth_ == 0; }
  Context* back() const { return contexts_[depth_ - 1]; }
  void pop_back() { --depth_; }
  void push_back(Context* context) {
    if (depth_ == MOST) std::abort();  // somebody forgets to pop
    contexts_[depth_++] = context;
  }

 private:
  static constexpr int MOST = 1000;
  Context* contexts_[MOST];
  int depth_;
};

static_assert(std::is_trivially_destructible_v<Stack>);

Stack& stack() {
  static thread_local Stack contexts;
  return contexts;
}

Context* top() { return stack().empty() ? nullptr : stack().back(); }

void deactivate(Context& context) {
  context.active = false;
  context.retained = 0;
  context.peers.clear();
  memory().free_all_of(&context);
}

Result create(Context** context, unsigned flags, Device device) {
  if (const auto result = ready_for(device); result != SUCCESS) return result;
  if (context == nullptr) return INVALID_VALUE;
  const std::lock_guard lock(driver_mutex());
  auto* made = new Context{};
  made->device = device;
  made->active = true;
  made->flags = flags;
  made->id = ++last_id;
  created().insert(made);
  stack().push_back(made);
  *context = made;
  return SUCCESS;
}

}  // namespace

std::recursive_mutex& driver_mutex() {
  static auto& mutex = *new std::recursive_mutex;
  return mutex;
}

Result ready() { return initialized && !is_forked_child ? SUCCESS : NOT_INITIALIZED; }

Result ready_for(Device device) {
  if (const auto result = ready(); result != SUCCESS) return result;
  const auto count = static_cast<Device>(machine().visible.size());
  return device >= 0 && device < count ? SUCCESS : INVALID_DEVICE;
}

Result current(Context*& context) {
  if (const auto result = ready(); result != SUCCESS) return result;
  context = top();
  if (context == nullptr) return INVALID_CONTEXT;
  return context->active ? SUCCESS : CONTEXT_IS_DESTROYED;
}

bool is_context(const Context* context) {
  for (const auto& primary : primaries()) {
    if (context == &primary) return true;
  }
  return created().contains(const_cast<Context*>(context));
}

int forks() { return fork_count; }

EMULATED(cuInit, unsigned flags) {
  if (flags != 0) return INVALID_VALUE;
  const std::lock_guard lock(driver_mutex());
  if (machine().visible.empty()) return NO_DEVICE;
  if (!initialized) {
    pthread_atfork([] { ++fork_count; }, nullptr, [] { is_forked_child = true; });
  }
  initialized = true;
  return ready();
}

EMULATED(cuDevicePrimaryCtxRetain, Context** context, Device device) {
  if (const auto result = ready_for(device); result != SUCCESS) return result;
  if (context == nullptr) return INVALID_VALUE;
  const std::lock_guard lock(driver_mutex());
  auto& primary = primaries()[device];
  if (primary.retained++ == 0) {
    primary.active = true;
    primary.id = ++last_id;
  }
  *context = &primary;
  return SUCCESS;
}

EMULATED(cuDevicePrimaryCtxRelease_v2, Device device) {
  if (const auto result = ready_for(device); result != SUCCESS) return result;
  const std::lock_guard lock(driver_mutex());
  auto& primary = primaries()[device];
  if (primary.retained == 0) return INVALID_CONTEXT;
  if (--primary.retained == 0) deactivate(primary);
  return SUCCESS;
}
EMULATED_ENTRY(cuDevicePrimaryCtxRelease, emulated_cuDevicePrimaryCtxRelease_v2);

EMULATED(cuDevicePrimaryCtxReset_v2, Device device) {
  if (const auto result = ready_for(device); result != SUCCESS) return result;
  const std::lock_guard lock(driver_mutex());
  deactivate(primaries()[device]);
  return SUCCESS;
}
EMULATED_ENTRY(cuDevicePrimaryCtxReset, emulated_cuDevicePrimaryCtxReset_v2);

EMULATED(cuDevicePrimaryCtxSetFlags_v2, Device device, unsigned flags) {
  if (const auto result = ready_for(device); result != SUCCESS) return result;
  primaries()[device].flags = flags;
  return SUCCESS;
}
EMULATED_ENTRY(cuDevicePrimaryCtxSetFlags, emulated_cuDevicePrimaryCtxSetFlags_v2);

EMULATED(cuDevicePrimaryCtxGetState, Device device, unsigned* flags, int* active) {
  if (const auto result = ready_for(device); result != SUCCESS) return result;
  if (flags == nullptr || active == nullptr) return INVALID_VALUE;
  *flags = primaries()[device].flags;
  *active = primaries()[device].active ? 1 : 0;
  return SUCCESS;
}

EMULATED(cuCtxCreate_v2, Context** context, unsigned flags, Device device) {
  return create(context, flags, device);
}

// With one more parameter, which may ask for things that are not emulated.
EMULATED(cuCtxCreate_v4, Context** context, void* parameters, unsigned flags, Device device) {
  return parameters == nullptr ? create(context, flags, device) : NOT_SUPPORTED;
}

EMULATED(cuCtxDestroy_v2, Context* context) {
  if (const auto result = ready(); result != SUCCESS) return result;
  const std::lock_guard lock(driver_mutex());
  if (!created().contains(context) || !context->active) return INVALID_CONTEXT;
  deactivate(*context);
  if (top() == context) stack().pop_back();
  return SUCCESS;
}
EMULATED_ENTRY(cuCtxDestroy, emulated_cuCtxDestroy_v2);

EMULATED(cuCtxPushCurrent_v2, Context* context) {
  if (const auto result = ready(); result != SUCCESS) return result;
  if (!is_context(context)) return INVALID_CONTEXT;
  stack().push_back(context);
  return SUCCESS;
}
EMULATED_ENTRY(cuCtxPushCurrent, emulated_cuCtxPushCurrent_v2);

EMULATED(cuCtxPopCurrent_v2, Context** context) {
  if (const auto result = ready(); result != SUCCESS) return result;
  if (stack().empty()) return INVALID_CONTEXT;
  if (context != nullptr) *context = top();
  stack().pop_back();
  return SUCCESS;
}
EMULATED_ENTRY(cuCtxPopCurrent, emulated_cuCtxPopCurrent_v2);

EMULATED(cuCtxSetCurrent, Context* context) {
  if (const auto result = ready(); result != SUCCESS) return result;
  if (context != nullptr && !is_context(context)) return INVALID_CONTEXT;
  if (!stack().empty()) stack().pop_back();
  if (context != nullptr) stack().push_back(context);
  return SUCCESS;
}

EMULATED(cuCtxGetCurrent, Context** context) {
  if (const auto result = ready(); result != SUCCESS) return result;
  if (context == nullptr) return INVALID_VALUE;
  *context = top();
  return SUCCESS;
}

EMULATED(cuCtxGetDevice, Device* device) {
  if (const auto result = ready(); result != SUCCESS) return result;
  if (top() == nullptr) return INVALID_CONTEXT;
  *device = top()->device;
  return SUCCESS;
}

EMULATED(cuCtxGetId, Context* context, unsigned long long* id) {
  if (const auto result = ready(); result != SUCCESS) return result;
  if (context == nullptr) context = top();
  if (!is_context(context)) return INVALID_CONTEXT;
  if (!context->active) return CONTEXT_IS_DESTROYED;
  *id = context->id;
  return SUCCESS;
}

EMULATED(cuCtxGetFlags, unsigned* flags) {
  Context* context = nullptr;
  if (const auto result = current(context); result != SUCCESS) return result;
  *flags = context->flags;
  return SUCCESS;
}

EMULATED(cuCtxSetFlags, unsigned flags) {
  Context* context = nullptr;
  if (const auto result = current(context); result != SUCCESS) return result;
  context->flags = flags;
  return SUCCESS;
}

EMULATED(cuCtxGetApiVersion, Context* context, unsigned* version) {
  if (const auto result = ready(); result != SUCCESS) return result;
  if (context != nullptr && !is_context(context)) return INVALID_CONTEXT;
  *version = 3020;
  return SUCCESS;
}

EMULATED(cuCtxSynchronize) {
  Context* context = nullptr;
  return current(context);
}

EMULATED(cuDeviceCanAccessPeer, int* can, Device device, Device peer) {
  if (const auto result = ready_for(device); result != SUCCESS) return result;
  if (const auto result = ready_for(peer); result != SUCCESS) return result;
  *can = device != peer ? 1 : 0;
  return SUCCESS;
}

EMULATED(cuCtxEnablePeerAccess, Context* peer, unsigned flags) {
  Context* context = nullptr;
  if (const auto result = current(context); result != SUCCESS) return result;
  if (flags != 0) return INVALID_VALUE;
  if (!is_context(peer) || peer == context) return INVALID_CONTEXT;
  const std::lock_guard lock(driver_mutex());
  return context->peers.insert(peer).second ? SUCCESS : PEER_ACCESS_ALREADY_ENABLED;
}

EMULATED(cuCtxDisablePeerAccess, Context* peer) {
  Context* context = nullptr;
  if (const auto result = current(context); result != SUCCESS) return result;
  const std::lock_guard lock(driver_mutex());
  return context->peers.erase(peer) == 1 ? SUCCESS : PEER_ACCESS_NOT_ENABLED;
}

}  // namespace emulator
