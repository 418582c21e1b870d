#include "harness/comm/mpi_library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "harness/comm/device.hpp"
#include "harness/core/announced.hpp"
#include "harness/core/failure.hpp"
#include "harness/core/files.hpp"
#include "harness/core/print.hpp"
#include "harness/core/text.hpp"
#include "harness/launch/environment.hpp"
#include "harness/launch/program.hpp"

namespace ucxbench {
namespace {

// That of the MPI which the module was built with, where it still is.
std::string program_mpirun() {
  if constexpr (!std::string_view(UCXBENCH_MPIRUN).empty()) {
    if (::access(UCXBENCH_MPIRUN, X_OK) == 0) return UCXBENCH_MPIRUN;
  }
  return find_program("mpirun");
}

const MpiModule& load() {
  const auto file = own_program().parent_path() / UCXBENCH_MPI_MODULE_FROM_PROGRAM;
  if (::access(file.c_str(), R_OK) != 0) {
    throw Failure(Exit::cannot_run,
                  "mpi: this ucx-bench was built without MPI; install libopenmpi-dev and "
                  "openmpi-bin (Debian), and build it again");
  }
  // MPI loads parts of itself that look for its symbols among all.
  void* const handle = ::dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (handle == nullptr) {
    throw Failure(Exit::cannot_run, fmt::format("mpi: {}", in_one_line(::dlerror())));
  }
  const auto* module = static_cast<const MpiModule*>(::dlsym(handle, mpi_module_symbol));
  if (module == nullptr || module->bytes != sizeof(MpiModule)) {
    throw Failure(Exit::cannot_run,
                  fmt::format("mpi: '{}' is of another ucx-bench", file.string()));
  }
  return *module;
}

/// Empty where there is none.
std::string setting(const char* name) {
  std::array<char, mpi_setting_room> text{};
  return mpi_module().setting(name, text.data()) ? text.data() : "";
}

std::filesystem::path library_of(const void* symbol) {
  Dl_info info{};
  std::error_code ignored;
  if (symbol == nullptr || ::dladdr(symbol, &info) == 0) return {};
  return std::filesystem::weakly_canonical(info.dli_fname, ignored);
}

/// The UCX that the loader would give to MPI, where this process has loaded another one under its
/// name, which MPI then runs on; else empty.
std::filesystem::path unused_ucx() {
  const auto mpi = library_of(::dlsym(RTLD_DEFAULT, "MPI_Init"));
  const auto loaded = library_of(::dlsym(RTLD_DEFAULT, "ucp_get_version"));
  void* const handle = mpi.empty() ? nullptr : ::dlopen(mpi.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  if (handle == nullptr || loaded.empty()) return {};
  const std::unique_ptr<void, int (*)(void*)> open(handle, ::dlclose);
  Dl_serinfo size{};
  if (::dlinfo(handle, RTLD_DI_SERINFOSIZE, &size) != 0) return {};
  std::vector<std::max_align_t> room(size.dls_size / sizeof(std::max_align_t) + 1);
  auto* folders = reinterpret_cast<Dl_serinfo*>(room.data());
  *folders = size;
  if (::dlinfo(handle, RTLD_DI_SERINFO, folders) != 0) return {};
  for (unsigned at = 0; at < folders->dls_cnt; ++at) {
    std::error_code ignored;
    const auto own = std::filesystem::path(folders->dls_serpath[at].dls_name) / "libucp.so.0";
    if (!std::filesystem::exists(own, ignored)) continue;
    const auto file = std::filesystem::weakly_canonical(own, ignored);
    return file == loaded ? std::filesystem::path() : file;
  }
  return {};
}

void note_settings(MpiProcess& process) {
  auto& effective = process.effective;
  effective["MPI"] = split_text(mpi_module().library(), ',').front();
  if (const auto unused = unused_ucx(); !unused.empty()) {
    effective["MPI's own UCX"] = unused.string() + " (not used: this program's was loaded before)";
    if (process.rank == 0) {
      print_to(stderr,
               "mpi: this MPI brings the UCX of '{}', but runs on the one that ucx-bench has "
               "loaded under that name; start ucx-bench with LD_LIBRARY_PATH={} to run both on "
               "MPI's\n",
               unused.string(), unused.parent_path().string());
    }
  }
  for (const auto* name : {"pml", "btl", "btl_tcp_if_include", "btl_vader_single_copy_mechanism",
                           "mpi_yield_when_idle"}) {
    if (const auto value = setting(name); !value.empty()) effective[name] = value;
  }
  // Which of its parts carries a message MPI does not say. With ob1 it is one of those that it was
  // given.
  if (effective["pml"] != "ob1") return;
  for (const auto part : split_text(effective["btl"], ',')) {
    if (part == "tcp") {
      for (const auto device : split_text(effective["btl_tcp_if_include"], ',')) {
        process.lanes.push_back(fmt::format("tcp/{}", device));
      }
    } else if (part != "self") {
      const auto copies = effective.find("btl_vader_single_copy_mechanism");
      process.lanes.push_back(
          fmt::format("{}/{}", part, copies == effective.end() ? "memory" : copies->second));
    }
  }
}

}  // namespace

const MpiModule& mpi_module() {
  static const MpiModule& module = load();
  return module;
}

void MpiProcess::check(int rank_here, int size_here) const {
  if (rank == rank_here && size == size_here) return;
  throw Failure(Exit::cannot_run, fmt::format("mpi: rank {} of {} is {} of {} there", rank_here,
                                              size_here, rank, size));
}

const MpiProcess& mpi_process() {
  static const struct Began : MpiProcess {
    Began() {
      if (const char* why = mpi_module().begin(label_count, &rank, &size)) {
        throw Failure(Exit::cannot_run, fmt::format("mpi: {}", why));
      }
      note_settings(*this);
    }
    ~Began() { mpi_module().end(); }
    Began(const Began&) = delete;
    Began& operator=(const Began&) = delete;
  } own;
  return own;
}

void check_mpi(const char* why) {
  if (why != nullptr) throw Failure(Exit::lost, fmt::format("mpi: {}", why));
}

void check_mpi(const MpiDone& done, std::uint64_t bytes) {
  if (done.error == MpiDone::none && done.received) check_equal({.count = done.bytes}, bytes);
  if (done.error == MpiDone::truncated) refuse_length();
  if (done.error != MpiDone::none) throw Failure(Exit::lost, "mpi: a message failed");
}

MpiFound find_mpi() {
  MpiFound found;
  try {
    const auto& module = mpi_module();
    found.library = split_text(module.library(), ',').front();
    found.gpu_memory = module.takes_gpu_memory();
    found.over_ucx = !setting("pml_ucx_priority").empty();
    found.mpirun = program_mpirun();
    if (found.mpirun.empty())
      found.why_not = "mpi: no mpirun in PATH; install openmpi-bin (Debian)";
    if (!found.library.starts_with("Open MPI")) {
      found.why_not =
          fmt::format("mpi: it is started by Open MPI's mpirun, and this MPI is {}", found.library);
    }
  } catch (const Failure& failure) {
    found.why_not = failure.what();
  }
  return found;
}

}  // namespace ucxbench
