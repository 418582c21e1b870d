#include "bench/cli/options/outputs.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <optional>
#include <system_error>

#include "bench/cli/options/results_tree.hpp"
#include "harness/core/ending.hpp"
#include "harness/core/print.hpp"
#include "harness/report/drawn.hpp"
#include "harness/report/report.hpp"
#include "harness/report/scripts.hpp"
#include "harness/result/file.hpp"
#include "harness/result/run_file.hpp"
#include "harness/result/words.hpp"

namespace ucxbench {
namespace {

// A step summary collects what several commands say.
bool is_step_summary(const std::string& file) {
  const char* summary = std::getenv("GITHUB_STEP_SUMMARY");
  return summary != nullptr && file == summary;
}

// Tried by opening: permissions alone do not tell (a full or read-only file system, a folder).
void check_writable(const std::string& option, const std::string& file) {
  const auto refuse = [&](int error) {
    throw Failure(Exit::usage, fmt::format("--{} {}: {}; name a file that can be written, or '-'",
                                           option, file, std::strerror(error)));
  };
  std::error_code ignored;
  if (std::filesystem::is_fifo(file, ignored)) {  // to open it would wait for its reader
    if (::access(file.c_str(), W_OK) != 0) refuse(errno);
    return;
  }
  const auto place = follow_links(file);
  const bool existed = std::filesystem::exists(place, ignored);
  std::optional<SignalCleanup> empty;
  if (!existed) empty.emplace(place);
  std::FILE* opened = std::fopen(place.c_str(), "ab");
  if (opened == nullptr) refuse(errno);
  std::fclose(opened);
  if (!existed) std::filesystem::remove(place, ignored);
}

// "" for what several may write to: a device, a pipe, the step summary.
std::filesystem::path place_of(const std::string& file) {
  std::error_code ignored;
  if (is_step_summary(file)) return "";
  if (std::filesystem::exists(file, ignored) && !std::filesystem::is_regular_file(file, ignored)) {
    return "";
  }
  const auto absolute = std::filesystem::absolute(file, ignored);
  const auto place = std::filesystem::weakly_canonical(absolute, ignored);
  return ignored ? absolute : place;
}

// A slip of the hand would cost a run that nobody can measure again.
void check_own_file(const std::string& option, const std::string& file,
                    std::map<std::filesystem::path, std::string>& taken) {
  const auto place = place_of(file);
  if (place.empty()) return;
  const auto [other, fresh] = taken.emplace(place, fmt::format("--{} writes it, too", option));
  if (fresh) return;
  throw Failure(Exit::usage,
                fmt::format("--{} {}: {}; name another file", option, file, other->second));
}

bool is_folder(const std::string& file) {
  std::error_code ignored;
  return file.ends_with('/') || std::filesystem::is_directory(file, ignored);
}

std::string absolute_text(const std::filesystem::path& file) {
  std::error_code unknown;
  const auto absolute = std::filesystem::absolute(file, unknown);
  return unknown ? file.string() : absolute.string();
}

// What was measured does not end with an output that cannot be written.
Exit tried(const std::function<void()>& write) {
  try {
    write();
    return Exit::done;
  } catch (const Failure& failure) {
    print_to(stderr, "ucx-bench: {}\n", failure.what());
    return Exit::lost;
  }
}

}  // namespace

void check_outputs(const std::map<std::string, std::string>& files,
                   const std::vector<std::string>& inputs) {
  std::map<std::filesystem::path, std::string> taken;
  for (const auto& input : inputs) {
    if (!input.empty()) taken.emplace(place_of(input), "this command reads it");
  }
  std::string to_stdout;
  for (const auto& [format, file] : files) {
    if (file.empty()) continue;
    if (file != "-") {
      check_own_file(format, file, taken);
      check_writable(format, file);
      continue;
    }
    if (!to_stdout.empty()) {
      throw Failure(Exit::usage, fmt::format("--{} - and --{} -: only one output can be stdout",
                                             to_stdout, format));
    }
    to_stdout = format;
  }
}

bool write_output(const std::string& file, const std::string& bytes) {
  if (file.empty()) return false;
  if (file == "-") {
    print_to(stdout, "{}", bytes);
    return true;
  }
  if (is_step_summary(file)) {
    append_whole(file, bytes);
    sync_file(file);
  } else {
    write_atomically(file, bytes);
  }
  return false;
}

Exit write_or_keep(const std::string& file, const std::string& bytes) {
  std::filesystem::path place;
  const auto exit = tried([&] {
    try {
      write_output(file, bytes);
    } catch (const Failure& failure) {
      place = spare_place(std::filesystem::path(file).filename());
      if (place.empty()) throw;
      write_atomically(place, bytes);
      print_to(stderr, "ucx-bench: {}; it is in '{}'\n", failure.what(), place.string());
    }
  });
  return place.empty() ? exit : Exit::lost;
}

std::filesystem::path new_run_file(const std::filesystem::path& folder,
                                   const std::string& command) {
  const auto place = folder.empty() ? std::filesystem::path("ucx-bench-runs") : folder;
  std::error_code error;
  std::filesystem::create_directories(place, error);
  if (!error && ::access(place.c_str(), W_OK) != 0) error = {errno, std::generic_category()};
  if (error) {
    throw Failure(
        Exit::usage,
        fmt::format("cannot write to '{}'{}: {}; {}", absolute_text(place),
                    folder.empty() ? ", where runs are kept without --json" : "", error.message(),
                    folder.empty() ? "give --json FILE" : "choose another folder"));
  }
  return place / run_file_name(command);
}

void Outputs::add_options(CLI::App& command) {
  for (const char* format :
       {"json", "csv", "markdown", "gbench", "smaller-is-better", "bigger-is-better", "bencher"}) {
    add_option(command, format);
  }
  command.add_option("--html", page_, "one page that needs nothing else: a file, or - for stdout")
      ->type_name("FILE")
      ->group("output");
}

void Outputs::add_transfer_options(CLI::App& command) {
  for (const char* format : {"trace", "transfers"}) add_option(command, format);
}

void Outputs::add_check_options(CLI::App& command) {
  for (const char* format : {"junit", "prometheus"}) add_option(command, format);
}

void Outputs::add_option(CLI::App& command, const std::string& format) {
  command
      .add_option("--" + format, files_[format],
                  fmt::format("{}: a file, or - for stdout", formats().at(format).description))
      ->type_name("FILE")
      ->group("output");
}

void Outputs::check(const std::string& input, const std::vector<std::string>& others) const {
  auto files = files_;
  files["html"] = page_;
  auto& json = files.at("json");
  std::error_code ignored;
  const bool device = !json.empty() && place_of(json).empty() && !is_folder(json);
  for (const char* format : {"trace", "transfers"}) {
    if (files[format].empty() || !input.empty() || !device) continue;
    throw Failure(Exit::usage, fmt::format("--{} needs the transfer log, which is kept beside a "
                                           "run's file: '{}' is not a file; leave --json out",
                                           format, json));
  }
  if (is_folder(json)) {
    std::filesystem::create_directories(json, ignored);
    json = (std::filesystem::path(json) / run_file_name("run")).string();
  }
  if (std::filesystem::equivalent(input, json, ignored)) json.clear();
  auto inputs = others;
  inputs.push_back(input);
  check_outputs(files, inputs);
}

void Outputs::need_no_transfers() const {
  for (const char* format : {"trace", "transfers"}) {
    const auto found = files_.find(format);
    if (found == files_.end() || found->second.empty()) continue;
    throw Failure(Exit::usage, fmt::format("--{} shows the transfer log, which --no-transfer-log "
                                           "leaves out: give one of them",
                                           format));
  }
}

bool Outputs::takes_stdout() const {
  return page_ == "-" ||
         std::ranges::any_of(files_, [](const auto& output) { return output.second == "-"; });
}

std::filesystem::path Outputs::run_file(const std::string& command, const Result& result) const {
  const auto& json = files_.at("json");
  if (is_folder(json)) return new_run_in_tree(json, text_at(result.machine, "/id", "?"), command);
  if (!keeps_unasked()) return json;
  return new_run_file("", command);
}

bool Outputs::keeps_unasked() const {
  const auto& json = files_.at("json");
  return json.empty() || json == "-";
}

Exit Outputs::write(const Result& result, const std::optional<RenderOptions>& table) const {
  Exit exit = Exit::done;
  if (is_folder(files_.at("json"))) {
    exit = worse(exit, tried([&] { keep_facts(files_.at("json"), result); }));
  }
  bool shown = table && page_ != "-";
  for (const auto& [format, file] : files_) {
    if (file.empty() || (format == "json" && file != "-")) continue;
    const auto bytes = render(format, result);
    if (file == "-") shown = false;
    exit = worse(exit, write_or_keep(file, bytes));
  }
  if (shown) print_made(stdout, render("table", result, *table));
  std::fflush(stdout);  // before what is said on stderr
  return exit;
}

bool Outputs::write_plan(const Json& plan, bool for_ab) const {
  const auto& json = files_.at("json");
  return (for_ab || json == "-") && write_output(json, to_text(plan) + "\n");
}

void Outputs::write_run(const Result& result) const {
  const auto& file = files_.at("json");
  if (file.empty() || file == "-") return;
  write_atomically(run_file("report", result), render("json", result));
}

Exit Outputs::write_page(const Result& result) const {
  if (page_.empty()) return Exit::done;
  return static_cast<Exit>(run_script_on(json_text(page_to_draw(result)), "page", {"-o", page_}));
}

}  // namespace ucxbench
