#include "harness/comm/nvlink_counters.hpp"

#include <dlfcn.h>

#include <type_traits>

namespace ucxbench {
namespace {

// Of nvml.h (NVML API reference): names, values and layout.
constexpr unsigned field_nvlink_throughput_data_tx = 138;
constexpr unsigned all_links = ~0U;

struct FieldValue {
  unsigned field;
  unsigned scope;
  long long timestamp;
  long long latency_us;
  int value_type;
  int result;
  union {
    unsigned long long value;
    double number;
  };
};
static_assert(sizeof(FieldValue) == 40);

class Nvml {
 public:
  Nvml() {
    void* library = ::dlopen("libnvidia-ml.so.1", RTLD_NOW);
    if (library == nullptr) return;
    int (*init)() = nullptr;
    const auto find = [&](auto& function, const char* name) {
      function =
          reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(library, name));
      return function != nullptr;
    };
    usable_ = find(init, "nvmlInit_v2") && find(count_, "nvmlDeviceGetCount_v2") &&
              find(handle_, "nvmlDeviceGetHandleByIndex_v2") &&
              find(fields_, "nvmlDeviceGetFieldValues") && init() == 0;
  }

  std::map<std::string, std::uint64_t> transmitted() const {
    std::map<std::string, std::uint64_t> bytes;
    unsigned count = 0;
    if (!usable_ || count_(&count) != 0) return bytes;
    for (unsigned index = 0; index < count; ++index) {
      void* device = nullptr;
      FieldValue field{};
      field.field = field_nvlink_throughput_data_tx;
      field.scope = all_links;
      if (handle_(index, &device) != 0 || fields_(device, 1, &field) != 0) continue;
      if (field.result == 0) bytes["GPU" + std::to_string(index)] = field.value * 1024;
    }
    return bytes;
  }

 private:
  bool usable_ = false;
  int (*count_)(unsigned*) = nullptr;
  int (*handle_)(unsigned, void**) = nullptr;
  int (*fields_)(void*, int, FieldValue*) = nullptr;
};

}  // namespace

std::map<std::string, std::uint64_t> nvlink_transmitted() {
  static const Nvml nvml;
  return nvml.transmitted();
}

}  // namespace ucxbench
