#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "ci/cuda-emulator/test_driver.hpp"

namespace emulator::test {
namespace {

namespace fs = std::filesystem;

constexpr unsigned LAZY = IPC_LAZY_ENABLE_PEER_ACCESS;

/// Bytes from one process to another.
struct Pipe {
  Pipe() { EXPECT_EQ(0, pipe(ends)); }
  template <typename Value>
  void send(const Value& value) const {
    EXPECT_EQ(static_cast<ssize_t>(sizeof value), write(ends[1], &value, sizeof value));
  }
  template <typename Value>
  Value receive() const {
    Value value{};
    EXPECT_EQ(static_cast<ssize_t>(sizeof value), read(ends[0], &value, sizeof value));
    return value;
  }
  int ends[2];
};

class Reports {
 public:
  Reports() {
    char name[] = "/tmp/emulator-test-XXXXXX";
    folder_ = mkdtemp(name);
  }
  ~Reports() { fs::remove_all(folder_); }

  Environment environment() const { return {{"CUDA_EMULATOR_REPORT", folder_ / "report"}}; }

  nlohmann::json of(pid_t pid) const {
    std::ifstream file(folder_ / ("report." + std::to_string(pid)));
    std::string line;
    EXPECT_TRUE(std::getline(file, line));
    std::string more;
    EXPECT_FALSE(std::getline(file, more)) << more;
    return nlohmann::json::parse(line, nullptr, false);
  }

 private:
  fs::path folder_;
};

/// Runs both at once; the exporter's process, then the importer's.
std::array<pid_t, 2> in_two_processes(const Environment& environment,
                                      const std::function<void()>& exporter,
                                      const std::function<void()>& importer) {
  const Pipe pids;
  in_process(environment, [&] {
    const pid_t child = fork();
    if (child == 0) {
      alarm(30);
      importer();
      std::exit(testing::Test::HasFailure() ? EXIT_FAILURE : EXIT_SUCCESS);
    }
    pids.send(std::array<pid_t, 2>{getpid(), child});
    exporter();
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(0, status);
  });
  return pids.receive<std::array<pid_t, 2>>();
}

TEST(EmulatedIpc, SharesMemoryBetweenProcesses) {
  const Reports reports;
  const Pipe handle;
  const Pipe done;
  const auto [exporter, importer] = in_two_processes(
      reports.environment(),
      [&] {
        const Driver cuda;
        const auto pointer = cuda.filled(3 << 20, 0x5a);
        IpcHandle exported;
        // Of the whole allocation, wherever in it the pointer points.
        EXPECT_EQ(SUCCESS, cuda.export_memory(&exported, pointer + 4096));
        handle.send(exported);
        done.receive<char>();
        EXPECT_EQ(0x77, cuda.byte_at(pointer + 100));
        EXPECT_EQ(SUCCESS, cuda.free(pointer));
      },
      [&] {
        const Driver cuda;
        Handle second = nullptr;
        EXPECT_EQ(SUCCESS, cuda.retain(&second, 1));
        EXPECT_EQ(SUCCESS, cuda.set_current(second));
        const auto mine = cuda.filled(3 << 20, 0x77);
        const auto exported = handle.receive<IpcHandle>();
        DevicePointer pointer = 0;
        DevicePointer again = 0;
        EXPECT_EQ(INVALID_VALUE, cuda.open_memory(&pointer, exported, 0));
        EXPECT_EQ(SUCCESS, cuda.open_memory(&pointer, exported, LAZY));
        EXPECT_EQ(SUCCESS, cuda.open_memory(&again, exported, LAZY));
        EXPECT_EQ(pointer, again);
        EXPECT_EQ(0x5a, cuda.byte_at(pointer + (3 << 20) - 1));
        EXPECT_EQ(SUCCESS, cuda.on_device(mine, pointer, 1000));
        EXPECT_EQ(0x5a, cuda.byte_at(mine + 999));
        EXPECT_EQ(SUCCESS, cuda.on_device(pointer + 100, mine + 1000, 1));
        EXPECT_EQ(ILLEGAL_ADDRESS, cuda.on_device(mine, pointer + 1, 3 << 20));
        IpcHandle third;
        EXPECT_EQ(INVALID_VALUE, cuda.export_memory(&third, pointer)) << "not ours to pass on";
        EXPECT_EQ(INVALID_VALUE, cuda.free(pointer));
        EXPECT_EQ(SUCCESS, cuda.close_memory(pointer));
        EXPECT_EQ(0x5a, cuda.byte_at(pointer)) << "still opened once";
        EXPECT_EQ(SUCCESS, cuda.close_memory(pointer));
        EXPECT_EQ(INVALID_VALUE, cuda.close_memory(pointer));
        done.send('x');
      });
  const auto exported = reports.of(exporter);
  EXPECT_EQ(1, exported["ipc_handles"]);
  EXPECT_EQ(0, exported["ipc_opens"]);
  EXPECT_EQ(0, exported["d2d_bytes"]);
  EXPECT_EQ(1, exported["d2h_bytes"]);
  EXPECT_EQ(3 << 20, exported["peak_bytes"]);
  EXPECT_EQ(0, exported["left_allocated_bytes"]);
  const auto imported = reports.of(importer);
  EXPECT_EQ(2, imported["ipc_opens"]);
  EXPECT_EQ(2, imported["ipc_closes"]);
  EXPECT_EQ(0, imported["ipc_left_open"]);
  EXPECT_EQ(1001, imported["d2d_bytes"]);
  EXPECT_EQ(1001, imported["d2d_ipc_bytes"]);
  EXPECT_EQ(1001, imported["d2d_peer_bytes"]) << "from device 0 to device 1";
  EXPECT_EQ(3 << 20, imported["left_allocated_bytes"]);
  EXPECT_EQ(1, imported["illegal_accesses"]);
}

TEST(EmulatedIpc, RefusesWhatTheDriverRefuses) {
  in_process({}, [] {
    const Driver cuda;
    const auto pointer = cuda.filled(100, 0);
    IpcHandle handle;
    EXPECT_EQ(SUCCESS, cuda.export_memory(&handle, pointer));
    DevicePointer opened = 0;
    EXPECT_EQ(INVALID_CONTEXT, cuda.open_memory(&opened, handle, LAZY)) << "one's own";
    EXPECT_EQ(INVALID_VALUE, cuda.open_memory(&opened, IpcHandle{}, LAZY));
    DevicePointer managed = 0;
    EXPECT_EQ(SUCCESS, cuda.allocate_managed(&managed, 100, 1));
    EXPECT_EQ(INVALID_VALUE, cuda.export_memory(&handle, managed));
  });
}

TEST(EmulatedIpc, CannotOpenWhatIsGone) {
  const Pipe handle;
  const Pipe done;
  in_two_processes(
      {},
      [&] {
        const Driver cuda;
        const auto pointer = cuda.filled(100, 1);
        IpcHandle exported;
        EXPECT_EQ(SUCCESS, cuda.export_memory(&exported, pointer));
        EXPECT_EQ(SUCCESS, cuda.free(pointer));
        cuda.filled(100, 2);  // gets the same descriptor
        handle.send(exported);
        done.receive<char>();
      },
      [&] {
        const Driver cuda;
        DevicePointer pointer = 0;
        EXPECT_EQ(MAP_FAILED_, cuda.open_memory(&pointer, handle.receive<IpcHandle>(), LAZY));
        done.send('x');
      });
}

TEST(EmulatedReport, CountsBytesByDirection) {
  const Reports reports;
  const Pipe pid;
  in_process(reports.environment(), [&] {
    pid.send(getpid());
    const Driver cuda;
    const auto first = cuda.filled(1000, 0);
    const auto second = cuda.filled(1000, 0);
    char host[1000] = {};
    EXPECT_EQ(SUCCESS, cuda.to_device(first, host, 1));
    EXPECT_EQ(SUCCESS, cuda.to_host(host, first, 20));
    EXPECT_EQ(SUCCESS, cuda.on_device(second, first, 300));
    DevicePointer managed = 0;
    EXPECT_EQ(SUCCESS, cuda.allocate_managed(&managed, 1000, 1));
    EXPECT_EQ(SUCCESS, cuda.to_device(managed, host, 400));
    EXPECT_EQ(SUCCESS, cuda.free(first));
  });
  const auto report = reports.of(pid.receive<pid_t>());
  EXPECT_EQ(true, report["emulated"]);
  EXPECT_EQ(1, report["h2d_bytes"]);
  EXPECT_EQ(20, report["d2h_bytes"]);
  EXPECT_EQ(300, report["d2d_bytes"]);
  EXPECT_EQ(300, report["d2d_same_device_bytes"]);
  EXPECT_EQ(0, report["d2d_peer_bytes"]);
  EXPECT_EQ(0, report["d2d_ipc_bytes"]);
  EXPECT_EQ(400, report["h2h_bytes"]);
  EXPECT_EQ(2, report["device_allocations"]);
  EXPECT_EQ(1, report["managed_allocations"]);
  EXPECT_EQ(2000, report["peak_bytes"]);
  EXPECT_EQ(1000, report["left_allocated_bytes"]);
}

}  // namespace
}  // namespace emulator::test
