#include "ci/cuda-emulator/machine.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <tuple>

namespace emulator {
namespace {

std::uint64_t number(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr || *text == '\0' ? otherwise : std::strtoull(text, nullptr, 0);
}

/// The device that a member of CUDA_VISIBLE_DEVICES names, by number or by (the beginning of) its
/// UUID; -1 if none does.
int named(const std::string& name, int devices) {
  if (name.starts_with("GPU-")) {
    for (int device = 0; device < devices; ++device) {
      if (uuid_text(device).starts_with(name)) return device;
    }
    return -1;
  }
  char* end = nullptr;
  const long index = std::strtol(name.c_str(), &end, 10);
  const bool valid = end != name.c_str() && *end == '\0' && index >= 0 && index < devices;
  return valid ? static_cast<int>(index) : -1;
}

std::vector<int> visible_devices(int devices) {
  std::vector<int> visible;
  const char* list = std::getenv("CUDA_VISIBLE_DEVICES");
  if (list == nullptr) {
    for (int device = 0; device < devices; ++device) visible.push_back(device);
    return visible;
  }
  std::istringstream names(list);
  for (std::string name; std::getline(names, name, ',');) {
    const int device = named(name, devices);
    // What follows a wrong one is ignored, as the driver does it; one named twice hides all.
    if (device < 0) break;
    if (std::find(visible.begin(), visible.end(), device) != visible.end()) return {};
    visible.push_back(device);
  }
  return visible;
}

Machine read_machine() {
  const auto devices =
      static_cast<int>(std::min<std::uint64_t>(number("CUDA_EMULATOR_GPUS", 2), MAX_DEVICES));
  return {.devices = devices,
          .bytes = number("CUDA_EMULATOR_GPU_BYTES", 1ULL << 30),
          .driver_version = static_cast<int>(number("CUDA_EMULATOR_DRIVER_VERSION", 13000)),
          .links = static_cast<int>(number("CUDA_EMULATOR_NVLINKS", 4)),
          .crc_every = number("CUDA_EMULATOR_NVLINK_CRC_EVERY", 0),
          .fabric = number("CUDA_EMULATOR_FABRIC", 0) != 0,
          .mps = number("CUDA_EMULATOR_MPS", 0) != 0,
          .counts = number("CUDA_EMULATOR_NVLINK_COUNTERS", 1) != 0,
          .visible = visible_devices(devices)};
}

}  // namespace

const Machine& machine() {
  // Never destroyed: UCX calls the driver from its own destructors.
  static const Machine& instance = *new Machine(read_machine());
  return instance;
}

std::string pci_address(int device, int domain_digits) {
  char text[32];
  std::snprintf(text, sizeof text, "%0*X:%02X:00.0", domain_digits, PCI_DOMAIN, pci_bus(device));
  return text;
}

/// FNV-1a of the host's name and the kernel's boot id: no two machines have GPUs of one UUID.
/// Without strings: a program with sanitizers would allocate what this library then frees.
std::uint32_t number_of_machine() {
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  std::array<char, 64> boot{};
  if (auto* file = std::fopen("/proc/sys/kernel/random/boot_id", "re")) {
    std::ignore = std::fgets(boot.data(), static_cast<int>(boot.size()), file);
    std::fclose(file);
  }
  std::uint32_t hash = 2166136261U;
  for (const char* text : {host.data(), boot.data()}) {
    for (; *text != '\0'; ++text) hash = (hash ^ static_cast<unsigned char>(*text)) * 16777619U;
  }
  return hash;
}

Uuid uuid_of(int device) {
  static const auto number = number_of_machine();
  Uuid uuid{{0xe3, 0x01, 0xa7, 0xed, 0, 'e', 'm', 'u', 'l', 'a', 't', 'e', 0, 0, 0, 0}};
  std::memcpy(&uuid.bytes[12], &number, sizeof number);
  uuid.bytes[4] = static_cast<unsigned char>(device);
  return uuid;
}

std::string uuid_text(int device) {
  const auto uuid = uuid_of(device);
  std::string text = "GPU";
  for (int index = 0; index < 16; ++index) {
    if (index == 0 || index == 4 || index == 6 || index == 8 || index == 10) text += '-';
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", uuid.bytes[index]);
    text += digits;
  }
  return text;
}

}  // namespace emulator
