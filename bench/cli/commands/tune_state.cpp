#include "bench/cli/commands/tune_state.hpp"

#include <fmt/format.h>

#include <system_error>
#include <utility>

#include "harness/core/failure.hpp"
#include "harness/core/files.hpp"
#include "harness/core/read_json.hpp"
#include "harness/result/file.hpp"
#include "harness/result/result.hpp"

namespace ucxbench {
namespace {

constexpr const char* state_schema = "ucx-bench/tune/1";
constexpr std::uint64_t most_bytes_of_state = std::uint64_t{16} << 20U;

[[noreturn]] void refuse_state(const std::filesystem::path& file, const std::string& what) {
  throw Failure(Exit::usage,
                fmt::format("'{}' {}: remove it, or choose another --output", file.string(), what));
}

Trial trial_of(const Json& json) {
  return {.gains = json.at("gains").get<std::map<std::string, std::vector<double>>>(),
          .problem = json.at("problem").get<std::string>()};
}

}  // namespace

TuneState::TuneState(std::filesystem::path file, const std::string& command, const std::string& ucx,
                     const std::string& machine)
    : file_(std::move(file)),
      about_({{"schema", state_schema}, {"command", command}, {"ucx", ucx}, {"machine", machine}}) {
  std::error_code ignored;
  if (file_.empty() || !std::filesystem::exists(file_, ignored)) return;
  const auto text = read_given(file_, most_bytes_of_state, "remove it");
  try {
    const auto kept = read_json(text);
    for (const auto& [name, value] : about_.items()) {
      if (kept.at(name) == value) continue;
      refuse_state(file_, fmt::format("belongs to a search with another {}: {}", name,
                                      in_one_line(kept.at(name).dump())));
    }
    for (const auto& of : kept.at("trials")) {
      const auto settings = of.at("settings").get<Variables>();
      if (trials_.emplace(settings, trial_of(of)).second) continue;
      refuse_state(file_, "has two trials of the same settings");
    }
    confirmation_ = kept.at("confirmation");
  } catch (const BadJson& bad) {
    refuse_state(file_,
                 fmt::format("was not written by ucx-bench tune ({})", in_one_line(bad.what())));
  } catch (const Json::exception&) {
    refuse_state(file_, "was not written by ucx-bench tune");
  }
}

const Trial& TuneState::trial(const Variables& settings) const {
  static const Trial none;
  const auto found = trials_.find(settings);
  return found == trials_.end() ? none : found->second;
}

void TuneState::keep(const Variables& settings, Trial trial) {
  trials_[settings] = std::move(trial);
  write();
}

std::optional<TuneState::RunFiles> TuneState::confirmation(
    const Variables& settings, const std::vector<std::string>& cases) const {
  if (!confirmation_.is_object()) return std::nullopt;
  try {
    if (confirmation_.at("settings").get<Variables>() != settings) return std::nullopt;
    if (confirmation_.value("cases", Json()) != Json(cases)) return std::nullopt;
    RunFiles files{confirmation_.at("base").get<std::string>(),
                   confirmation_.at("new").get<std::string>()};
    std::error_code ignored;
    const bool there =
        std::filesystem::exists(files.base, ignored) && std::filesystem::exists(files.now, ignored);
    return there ? std::optional(files) : std::nullopt;
  } catch (const Json::exception&) {
    refuse_state(file_, "was not written by ucx-bench tune");
  }
}

void TuneState::keep_confirmation(const Variables& settings, const std::vector<std::string>& cases,
                                  const RunFiles& files) {
  confirmation_ = {{"settings", settings},
                   {"cases", cases},
                   {"base", files.base.string()},
                   {"new", files.now.string()}};
  write();
}

void TuneState::write() const {
  if (file_.empty()) return;
  auto all = about_;
  all["trials"] = Json::array();
  for (const auto& [settings, trial] : trials_) {
    all["trials"].push_back(
        {{"settings", settings}, {"gains", trial.gains}, {"problem", trial.problem}});
  }
  all["confirmation"] = confirmation_;
  write_atomically(file_, to_text(all) + "\n");
}

}  // namespace ucxbench
