#include "harness/transports/nvlink_counters.hpp"

#include <dlfcn.h>

#include <array>
#include <utility>

#include "harness/core/library.hpp"
#include "harness/topology/nvml_field.hpp"

namespace ucxbench {
namespace {

// Of nvml.h (NVML API reference): names, values and layout.
constexpr unsigned field_nvlink_throughput_data_tx = 138;
constexpr std::array<std::pair<unsigned, const char*>, 4> field_nvlink_errors = {
    {{38, "crc_flit_error"}, {45, "crc_data_error"}, {52, "replay_error"}, {59, "recovery_error"}}};
constexpr unsigned all_links = ~0U;

class Nvml {
 public:
  Nvml() {
    void* library = ::dlopen("libnvidia-ml.so.1", RTLD_NOW);
    if (library == nullptr) return;
    int (*init)() = nullptr;
    const auto find = [&](auto*& function, const char* name) {
      return find_function(library, name, function);
    };
    usable_ = find(init, "nvmlInit_v2") && find(count_, "nvmlDeviceGetCount_v2") &&
              find(handle_, "nvmlDeviceGetHandleByIndex_v2") &&
              find(fields_, "nvmlDeviceGetFieldValues") && init() == 0;
  }

  /// Summed over the links of each GPU that has it, by "GPU0".
  std::map<std::string, std::uint64_t> field_of_gpus(unsigned which) const {
    std::map<std::string, std::uint64_t> values;
    unsigned count = 0;
    if (!usable_ || count_(&count) != 0) return values;
    for (unsigned index = 0; index < count; ++index) {
      void* device = nullptr;
      NvmlField field{};
      field.field = which;
      field.scope = all_links;
      if (handle_(index, &device) != 0 || fields_(device, 1, &field) != 0) continue;
      if (field.result == 0) values["GPU" + std::to_string(index)] = field.value;
    }
    return values;
  }

 private:
  bool usable_ = false;
  int (*count_)(unsigned*) = nullptr;
  int (*handle_)(unsigned, void**) = nullptr;
  int (*fields_)(void*, int, NvmlField*) = nullptr;
};

const Nvml& nvml() {
  static const Nvml loaded;
  return loaded;
}

}  // namespace

std::map<std::string, std::uint64_t> nvlink_transmitted() {
  auto bytes = nvml().field_of_gpus(field_nvlink_throughput_data_tx);
  for (auto& [gpu, value] : bytes) value *= 1024;
  return bytes;
}

std::map<std::string, std::uint64_t> nvlink_errors() {
  std::map<std::string, std::uint64_t> errors;
  for (const auto& [field, name] : field_nvlink_errors) {
    for (const auto& [gpu, value] : nvml().field_of_gpus(field)) errors[gpu + "/" + name] = value;
  }
  return errors;
}

}  // namespace ucxbench
