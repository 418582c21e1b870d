#include "harness/launch/pmix.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>
#include <utility>

#include "harness/core/failure.hpp"
#include "harness/core/library.hpp"
#include "harness/core/read_json.hpp"
#include "harness/launch/agreement.hpp"
#include "harness/launch/environment.hpp"
#include "harness/launch/token.hpp"

namespace ucxbench {
namespace {

// The part of PMIx's interface that is used here, as its standard fixes it (PMIx 4.1, chapter 3):
// so it needs no header to be built, and the library only where a launcher speaks it.
using Status = int;
constexpr Status pmix_success = 0;
constexpr std::uint8_t global_scope = 3;            // PMIX_GLOBAL
constexpr std::uint16_t string_type = 3;            // PMIX_STRING
constexpr std::uint16_t uint32_type = 14;           // PMIX_UINT32
constexpr std::uint32_t any_rank = UINT32_MAX - 1;  // PMIX_RANK_WILDCARD: of the job
constexpr const char* job_size = "pmix.job.size";
constexpr const char* local_size = "pmix.local.size";
constexpr const char* process_host = "pmix.hname";
constexpr const char* meeting_key = "ucx-bench.meeting";
constexpr const char* announcement_key = "ucx-bench.announcement";

struct Process {
  std::array<char, 256> job;
  std::uint32_t rank;
};

struct Value {
  std::uint16_t type;
  union {
    char* string;
    std::uint32_t uint32;
    std::array<std::byte, 64> room;  // no less than any version's
  } data;
};

struct Library {
  Status (*init)(Process*, const void*, std::size_t);
  Status (*put)(std::uint8_t, const char*, Value*);
  Status (*commit)();
  Status (*fence)(const Process*, std::size_t, const void*, std::size_t);
  Status (*get)(const Process*, const char*, const void*, std::size_t, Value**);
  Status (*finalize)(const void*, std::size_t);
  const char* (*error_string)(Status);
};

Library load() {
  void* const handle = ::dlopen("libpmix.so.2", RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    throw Failure(Exit::cannot_run,
                  "a launcher has started several of this process, and libpmix.so.2, by which "
                  "they find each other, is not here: install it (Debian: libpmix2), or use "
                  "--listen and --connect from a shell on each host");
  }
  Library library{};
  const auto find = [&](auto*& function, const char* name) {
    if (find_function(handle, name, function)) return;
    throw Failure(Exit::cannot_run, fmt::format("libpmix.so.2 has no {}", name));
  };
  find(library.init, "PMIx_Init");
  find(library.put, "PMIx_Put");
  find(library.commit, "PMIx_Commit");
  find(library.fence, "PMIx_Fence");
  find(library.get, "PMIx_Get");
  find(library.finalize, "PMIx_Finalize");
  find(library.error_string, "PMIx_Error_string");
  return library;
}

/// Runs a call that may wait for ever on a thread of its own, which is left behind then. Whether it
/// has ended.
bool ends_within_limit(std::function<void()> call) {
  struct Shared {
    std::mutex mutex;
    std::condition_variable over;
    bool done = false;
    std::exception_ptr error;
  };
  const auto shared = std::make_shared<Shared>();
  std::thread([shared, call = std::move(call)] {
    std::exception_ptr error;
    try {
      call();
    } catch (const std::exception&) {
      error = std::current_exception();
    }
    const std::lock_guard lock(shared->mutex);
    shared->error = error;
    shared->done = true;
    shared->over.notify_one();
  }).detach();
  std::unique_lock lock(shared->mutex);
  if (!shared->over.wait_for(lock, launcher_limit, [&] { return shared->done; })) return false;
  if (shared->error) std::rethrow_exception(shared->error);
  return true;
}

class Pmix final : public Launcher {
 public:
  Pmix() : library_(load()) {
    within_limit("its beginning", [this] { begin(); });
  }
  ~Pmix() override { end(); }
  Pmix(const Pmix&) = delete;
  Pmix& operator=(const Pmix&) = delete;

  int index() const override { return static_cast<int>(self_.rank); }
  int count() const override { return count_; }

  Meeting place(const std::string& listen, const std::string& token_file) override {
    own_secret_ = token_file.empty();
    auto token = own_secret_ ? fresh_token() : load_or_create_token(token_file);
    if (!listen.empty()) return {parse_host_port(listen), std::move(token)};
    HostPort at{here_ == count_ ? "127.0.0.1" : address(), "0"};
    if (at.host.empty()) ask_for_address();
    return {std::move(at), std::move(token)};
  }

  // What is put goes over the launcher's connections, which need not be encrypted. So the secret is
  // veiled for each process, by what that has announced.
  void tell(const Meeting& meeting) override {
    within_limit("telling the others", [this, meeting] {
      fence();
      nlohmann::json told = {{"host", meeting.at.host}, {"port", meeting.at.port}};
      if (own_secret_) told["announcement"] = agreement_.announced();
      put(meeting_key, told.dump());
      for (int index = 1; own_secret_ && index < count_; ++index) {
        const auto other = text_of(index, announcement_key);
        put(token_key(index).c_str(), agreement_.veiled(meeting.token, other));
      }
      check("PMIx_Commit", library_.commit());
      fence();
    });
    end();
  }

  Meeting hear(const std::string&, const std::string& token_file) override {
    const auto meeting = std::make_shared<Meeting>();
    within_limit("hearing of the first process", [this, meeting, token_file] {
      put(announcement_key, agreement_.announced());
      check("PMIx_Commit", library_.commit());
      fence();
      fence();
      try {
        const auto told = json_or_null(text_of(0, meeting_key));
        meeting->at = {told.at("host").get<std::string>(), told.at("port").get<std::string>()};
        if (!token_file.empty()) return;
        meeting->token = agreement_.veiled(text_of(0, token_key(index()).c_str()),
                                           told.at("announcement").get<std::string>());
      } catch (const nlohmann::json::exception&) {
        throw Failure(Exit::lost, "PMIx: the first process has not said where it is");
      }
    });
    end();
    if (!token_file.empty()) meeting->token = load_token(token_file);
    return *meeting;
  }

 private:
  /// Of the own daemon, which Open MPI 4 names, or of the way to another host.
  std::string address() {
    auto own = address_in_uri(environment_variable("OMPI_MCA_orte_local_daemon_uri"));
    if (own.empty()) own = address_towards(environment_variable("SLURM_LAUNCH_NODE_IPADDR"));
    return own.empty() ? address_towards(another_host()) : own;
  }

  /// By the name that the launcher has for it; empty where it does not say. The last process is
  /// mostly on another host.
  std::string another_host() {
    const auto other = std::make_shared<std::string>();
    within_limit("asking for the hosts", [this, other] {
      const auto own = text_of(index(), process_host);
      for (int rank = count_ - 1; other->empty() && rank >= 0; --rank) {
        if (auto host = text_of(rank, process_host); host != own) *other = std::move(host);
      }
    });
    return *other;
  }

  void within_limit(const char* what, std::function<void()> call) {
    if (ends_within_limit(std::move(call))) return;
    begun_ = false;  // its end would wait, too
    throw Failure(Exit::lost,
                  fmt::format("PMIx: {} takes longer than {} s", what, launcher_limit.count()));
  }

  static std::string token_key(int index) { return fmt::format("ucx-bench.token.{}", index); }

  void put(const char* key, std::string text) const {
    Value value{};
    value.type = string_type;
    value.data.string = text.data();
    check("PMIx_Put", library_.put(global_scope, key, &value));
  }

  void fence() const {
    if (library_.fence(nullptr, 0, nullptr, 0) == pmix_success) return;
    throw Failure(Exit::cannot_run, "another process has ended; it says why on its own stderr");
  }

  std::string text_of(int process, const char* key) const {
    auto of = self_;
    of.rank = static_cast<std::uint32_t>(process);
    const auto* value = got(of, key);
    return value != nullptr && value->type == string_type ? value->data.string : "";
  }

  void check(const char* call, Status status) const {
    if (status == pmix_success) return;
    throw Failure(Exit::cannot_run,
                  fmt::format("{}: {}; start it by mpirun, or srun --mpi=pmix (PMIX_RANK is set)",
                              call, library_.error_string(status)));
  }

  void begin() {
    check("PMIx_Init", library_.init(&self_, nullptr, 0));
    begun_ = true;
    count_ = number_of(job_size).value_or(1);
    here_ = number_of(local_size).value_or(0);
  }

  // Early: a launcher takes a process that ends without it for one that has crashed, and its
  // threads shall not run while ranks are started and measure.
  void end() {
    if (std::exchange(begun_, false)) library_.finalize(nullptr, 0);
  }

  /// Null where there is none. A few bytes, which stay: they are to be freed as the library's
  /// version does it.
  const Value* got(const Process& of, const char* key) const {
    Value* value = nullptr;
    return library_.get(&of, key, nullptr, 0, &value) == pmix_success ? value : nullptr;
  }

  std::optional<int> number_of(const char* key) const {
    auto job = self_;
    job.rank = any_rank;
    const auto* value = got(job, key);
    if (value == nullptr || value->type != uint32_type) return std::nullopt;
    return static_cast<int>(value->data.uint32);
  }

  Library library_;
  KeyAgreement agreement_;
  bool own_secret_ = true;  ///< not that of a token file
  Process self_{};
  bool begun_ = false;
  int count_ = 1;
  int here_ = 0;
};

}  // namespace

std::unique_ptr<Launcher> meet_by_pmix() { return std::make_unique<Pmix>(); }

}  // namespace ucxbench
