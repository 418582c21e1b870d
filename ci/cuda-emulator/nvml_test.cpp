#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "ci/cuda-emulator/test_driver.hpp"

namespace emulator::test {
namespace {

struct PciInfo {
  char legacy[16];
  unsigned domain, bus, device, pci_device_id, pci_subsystem_id;
  char address[32];
};

struct FieldValue {
  unsigned field, scope;
  long long timestamp, latency;
  int type, result;
  unsigned long long value;
};

struct Nvml {
  void* library = open_library("libnvidia-ml.so.1");
  Symbol find(const char* function) const { return symbol(library, function); }

  int (*init)() = find("nvmlInit_v2");
  int (*shutdown)() = find("nvmlShutdown");
  int (*count)(unsigned*) = find("nvmlDeviceGetCount_v2");
  int (*by_index)(unsigned, Handle*) = find("nvmlDeviceGetHandleByIndex_v2");
  int (*by_pci)(const char*, Handle*) = find("nvmlDeviceGetHandleByPciBusId_v2");
  int (*by_uuid)(const char*, Handle*) = find("nvmlDeviceGetHandleByUUID");
  int (*name)(Handle, char*, unsigned) = find("nvmlDeviceGetName");
  int (*uuid)(Handle, char*, unsigned) = find("nvmlDeviceGetUUID");
  int (*pci)(Handle, PciInfo*) = find("nvmlDeviceGetPciInfo_v3");
  int (*fields)(Handle, int, FieldValue*) = find("nvmlDeviceGetFieldValues");
  int (*link_state)(Handle, unsigned, int*) = find("nvmlDeviceGetNvLinkState");
  int (*link_pci)(Handle, unsigned, PciInfo*) = find("nvmlDeviceGetNvLinkRemotePciInfo_v2");
  int (*link_type)(Handle, unsigned, int*) = find("nvmlDeviceGetNvLinkRemoteDeviceType");
  int (*capability)(Handle, int*, int*) = find("nvmlDeviceGetCudaComputeCapability");
  int (*affinity)(Handle, unsigned, unsigned long*) = find("nvmlDeviceGetCpuAffinity");
  int (*generation)(Handle, unsigned*) = find("nvmlDeviceGetMaxPcieLinkGeneration");
  int (*generation_now)(Handle, unsigned*) = find("nvmlDeviceGetCurrPcieLinkGeneration");
  int (*lanes)(Handle, unsigned*) = find("nvmlDeviceGetMaxPcieLinkWidth");
  int (*lanes_now)(Handle, unsigned*) = find("nvmlDeviceGetCurrPcieLinkWidth");
  int (*ancestor)(Handle, Handle, int*) = find("nvmlDeviceGetTopologyCommonAncestor");
  const char* (*error)(int) = find("nvmlErrorString");

  unsigned long long field(Handle device, unsigned id) const {
    FieldValue value{};
    value.field = id;
    value.scope = ~0U;
    EXPECT_EQ(0, fields(device, 1, &value));
    EXPECT_EQ(0, value.result) << id;
    return value.value;
  }
};

constexpr unsigned NVLINK_SENT_KIB = 138;
constexpr unsigned NVLINK_RECEIVED_KIB = 139;
constexpr unsigned PCIE_SENT = 197;
constexpr unsigned PCIE_RECEIVED = 198;

TEST(EmulatedNvml, FindsEveryDevice) {
  in_process({{"CUDA_VISIBLE_DEVICES", "1"}}, [] {
    const Nvml nvml;
    unsigned count = 0;
    EXPECT_EQ(1, nvml.count(&count));
    EXPECT_STREQ("Uninitialized", nvml.error(1));
    EXPECT_EQ(0, nvml.init());
    EXPECT_EQ(0, nvml.count(&count));
    EXPECT_EQ(2u, count) << "CUDA_VISIBLE_DEVICES is CUDA's";
    Handle device = nullptr;
    Handle same = nullptr;
    EXPECT_EQ(2, nvml.by_index(2, &device));
    EXPECT_EQ(0, nvml.by_index(1, &device));
    PciInfo pci;
    EXPECT_EQ(0, nvml.pci(device, &pci));
    EXPECT_STREQ("0000E000:02:00.0", pci.address);
    EXPECT_EQ(2u, pci.bus);
    EXPECT_EQ(0, nvml.by_pci(pci.address, &same));
    EXPECT_EQ(device, same);
    char text[96];
    EXPECT_EQ(0, nvml.uuid(device, text, sizeof text));
    EXPECT_EQ(0, nvml.by_uuid(text, &same));
    EXPECT_EQ(device, same);
    EXPECT_EQ(0, nvml.name(device, text, sizeof text));
    EXPECT_STREQ("Emulated GPU", text);
    EXPECT_EQ(0, nvml.shutdown());
    EXPECT_EQ(1, nvml.shutdown());
  });
}

TEST(EmulatedNvml, HasLinksToTheOtherDevices) {
  const auto first_link = [](int& state, PciInfo& pci, int& type) {
    const Nvml nvml;
    EXPECT_EQ(0, nvml.init());
    Handle device = nullptr;
    EXPECT_EQ(0, nvml.by_index(0, &device));
    return nvml.link_state(device, 0, &state) + nvml.link_pci(device, 0, &pci) +
           nvml.link_type(device, 0, &type);
  };
  int state = 0;
  int type = 7;
  PciInfo pci{};
  in_process({}, [&] {
    EXPECT_EQ(0, first_link(state, pci, type));
    EXPECT_EQ(1, state);
    EXPECT_EQ(2u, pci.bus);
    EXPECT_EQ(0, type);
  });
  in_process({{"CUDA_EMULATOR_GPUS", "1"}}, [&] {
    EXPECT_EQ(0, first_link(state, pci, type));
    EXPECT_EQ(2, type) << "a switch";
  });
  in_process({{"CUDA_EMULATOR_NVLINKS", "0"}}, [&] { EXPECT_NE(0, first_link(state, pci, type)); });
}

TEST(EmulatedNvml, KnowsPlacesAndPcie) {
  in_process({}, [] {
    const Nvml nvml;
    EXPECT_EQ(0, nvml.init());
    Handle first = nullptr;
    Handle second = nullptr;
    EXPECT_EQ(0, nvml.by_index(0, &first));
    EXPECT_EQ(0, nvml.by_index(1, &second));
    int number = 0;
    int minor = 0;
    EXPECT_EQ(0, nvml.capability(first, &number, &minor));
    EXPECT_EQ(9, number);
    EXPECT_EQ(0, nvml.ancestor(first, second, &number));
    EXPECT_EQ(30, number);
    unsigned long mask[2] = {};
    EXPECT_EQ(0, nvml.affinity(first, 2, mask));
    EXPECT_EQ(1u, mask[0] & 1u);
    unsigned most = 0;
    unsigned now = 0;
    EXPECT_EQ(0, nvml.generation(first, &most) + nvml.generation_now(first, &now));
    EXPECT_GT(most, now);
    EXPECT_EQ(0, nvml.lanes(first, &most) + nvml.lanes_now(first, &now));
    EXPECT_EQ(16u, most);
  });
}

/// Copies 1 MiB from device 0 to device 1, 300 bytes to a device and 20 from it.
void copy_some() {
  const Driver cuda;
  const auto first = cuda.filled(1 << 20, 0);
  Handle context = nullptr;
  EXPECT_EQ(SUCCESS, cuda.retain(&context, 1));
  EXPECT_EQ(SUCCESS, cuda.set_current(context));
  const auto second = cuda.filled(1 << 20, 0);
  EXPECT_EQ(SUCCESS, cuda.on_device(second, first, 1 << 20));
  char host[300] = {};
  EXPECT_EQ(SUCCESS, cuda.to_device(second, host, 300));
  EXPECT_EQ(SUCCESS, cuda.to_host(host, second, 20));
}

void expect_counted() {
  const Nvml nvml;
  EXPECT_EQ(0, nvml.init());
  Handle first = nullptr;
  Handle second = nullptr;
  EXPECT_EQ(0, nvml.by_index(0, &first));
  EXPECT_EQ(0, nvml.by_index(1, &second));
  EXPECT_EQ(1024u, nvml.field(first, NVLINK_SENT_KIB));
  EXPECT_EQ(0u, nvml.field(first, NVLINK_RECEIVED_KIB));
  EXPECT_EQ(1024u, nvml.field(second, NVLINK_RECEIVED_KIB));
  EXPECT_EQ(0u, nvml.field(first, PCIE_RECEIVED));
  EXPECT_EQ(300u, nvml.field(second, PCIE_RECEIVED));
  EXPECT_EQ(20u, nvml.field(second, PCIE_SENT));
}

TEST(EmulatedNvml, CountsThisProcess) {
  in_process({}, [] {
    copy_some();
    expect_counted();
  });
}

TEST(EmulatedNvml, CountsAllProcessesOfAFile) {
  char name[] = "/tmp/emulator-counters-XXXXXX";
  close(mkstemp(name));
  const Environment environment{{"CUDA_EMULATOR_COUNTERS", name}};
  in_process(environment, copy_some);
  in_process(environment, expect_counted);
  std::filesystem::remove(name);
}

}  // namespace
}  // namespace emulator::test
