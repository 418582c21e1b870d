// What `replay` reads. The first letter says what the rest is:
//   D  a dump of Dask's logs
//   T  the transfer log of a run of two ranks, behind its first eight bytes

#include <stdlib.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "ci/fuzz/refusal.hpp"
#include "harness/result/file.hpp"
#include "harness/result/result.hpp"
#include "workloads/replay/traffic.hpp"

namespace {

using namespace ucxbench;
namespace fs = std::filesystem;

/// A folder with a run file whose log is still to be written.
struct Folder {
  Folder() {
    if (::mkdtemp(name.data()) == nullptr) std::abort();
    auto run = read_result("ci/fuzz/seeds/run/synthetic.json");
    run.run["transfers"] = "run.transfers.bin";
    run.cases.resize(1);
    std::ofstream(fs::path(name) / "run.json") << run_text(run);
  }
  ~Folder() { fs::remove_all(name); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string name = "/dev/shm/ucx-bench-fuzz-XXXXXX";
};

void order(const replay::Traffic& traffic) {
  for (const auto& script : traffic.ranks) replay::order_of(script);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Folder folder;
  const std::string text(reinterpret_cast<const char*>(data), size);
  if (text.starts_with('D')) {
    read_or_refuse([&] { order(replay::parse_dask_log("input", text.substr(1))); });
  } else if (text.starts_with('T')) {
    const auto run = fs::path(folder.name) / "run.json";
    std::ofstream(transfers_file(run), std::ios::binary) << "UCXTRF01" << text.substr(1);
    read_or_refuse([&] { order(replay::read_traffic(run, "")); });
  }
  return 0;
}
