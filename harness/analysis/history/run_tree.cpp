#include "harness/analysis/history/run_tree.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <exception>

#include "harness/analysis/comparison/environments.hpp"
#include "harness/core/failure.hpp"
#include "harness/core/files.hpp"
#include "harness/core/read_json.hpp"
#include "harness/result/file.hpp"
#include "harness/result/journal.hpp"

namespace ucxbench {
namespace {

namespace fs = std::filesystem;

constexpr int index_version = 12;  // another one is made anew
constexpr std::uint64_t most_index_bytes = std::uint64_t{1} << 32U;
constexpr std::uint64_t most_facts_bytes = std::uint64_t{1} << 28U;
constexpr std::size_t most_files = std::size_t{1} << 16U;
constexpr std::string_view run_stem = "ucx-bench/run/";
/// A first look at a large tree that is ended loses little.
constexpr std::chrono::seconds save_every{30};

Json to_json(const IndexEntry& entry) {
  Json json = {{"stamp", entry.stamp}};
  if (entry.record) json["record"] = to_json(*entry.record);
  if (!entry.problem.empty()) json["problem"] = entry.problem;
  for (const auto& [base, letters] : entry.verdicts) json["verdicts"][base] = letters;
  if (const auto& of = entry.itself) {
    json["itself"] = {
        {"tests", of->tests}, {"below", of->below}, {"alarms", of->alarms}, {"alpha", of->alpha}};
  }
  return json;
}

IndexEntry entry_from(Json& json) {
  IndexEntry entry{.stamp = json.at("stamp").get<std::array<std::int64_t, 2>>()};
  if (json.contains("record")) entry.record = run_record_from(std::move(json.at("record")));
  if (json.contains("problem")) entry.problem = json.at("problem").get<std::string>();
  if (json.contains("verdicts")) {
    for (const auto& [base, letters] : json.at("verdicts").items()) {
      entry.verdicts[base] = letters.get<std::string>();
    }
  }
  if (json.contains("itself")) {
    const auto& of = json.at("itself");
    entry.itself = {.tests = of.at("tests").get<std::size_t>(),
                    .below = of.at("below").get<std::size_t>(),
                    .alarms = of.at("alarms").get<std::size_t>(),
                    .alpha = of.at("alpha").get<double>()};
  }
  return entry;
}

/// Nothing where it is not as this version writes it: then all runs are read again.
std::map<std::string, IndexEntry> read_index(const fs::path& folder) {
  std::map<std::string, IndexEntry> files;
  try {
    auto index =
        read_json(read_given(folder / RunTree::index_name, most_index_bytes, "it is made anew"),
                  {.members = most_files});
    if (index.at("version") != index_version) return {};
    for (auto& [name, entry] : index.at("files").get_ref<Json::object_t&>()) {
      files[name] = entry_from(entry);
    }
  } catch (const std::exception&) {
    return {};
  }
  return files;
}

void write_index(const fs::path& folder, const std::map<std::string, IndexEntry>& files) {
  auto all = Json::object();
  for (const auto& [name, entry] : files) {
    // A search for each name among all before would take the square of their number.
    all.get_ref<Json::object_t&>().emplace_back(name, to_json(entry));
  }
  try {
    write_atomically(folder / RunTree::index_name,
                     json_text({{"version", index_version}, {"files", std::move(all)}}),
                     NamedBy::program);
  } catch (const Failure&) {
  }
}

/// Machine facts and topologies stand beside the runs.
bool is_no_run(const fs::path& file) {
  try {
    const auto json = json_or_null(read_given(file, most_facts_bytes, "give a run"));
    const auto found = json.is_object() ? json.find("schema") : json.end();
    return json.is_object() && found != json.end() && found->is_string() &&
           !found->get<std::string>().starts_with(run_stem);
  } catch (const Failure&) {
    return false;
  }
}

RunRecord read_record(const fs::path& file) {
  const auto run = read_result(file);
  try {
    auto record = record_of(run, std::time(nullptr));
    // By itself, too: what only this run has must not end what is said of the others.
    places_in_streams({&record.head, 1});
    environment_in_words(record.head);
    return record;
  } catch (const Failure&) {
    throw;
  } catch (const std::exception& error) {
    throw Failure(Exit::usage,
                  fmt::format("'{}' is a damaged ucx-bench run ({}); give it as ucx-bench --json "
                              "wrote it",
                              file.string(), why_not_json(error)));
  }
}

IndexEntry read_entry(const fs::path& file) {
  IndexEntry entry;
  try {
    entry.record = read_record(file);
  } catch (const Failure& failure) {
    if (is_no_run(file)) return entry;
    entry.problem = failure.what();
    const auto name = "'" + file.string() + "' ";
    if (entry.problem.starts_with(name)) entry.problem.erase(0, name.size());
  }
  return entry;
}

std::vector<fs::path> files_in(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code ignored;
  for (const auto& entry : fs::recursive_directory_iterator(
           folder, fs::directory_options::skip_permission_denied, ignored)) {
    const auto& file = entry.path();
    if (file.extension() == ".json" && !file.filename().string().starts_with('.') &&
        entry.is_regular_file(ignored)) {
      files.push_back(file);
    }
  }
  std::ranges::sort(files);
  return files;
}

std::array<std::int64_t, 2> stamp_of(const fs::path& file) {
  struct stat of{};
  if (::stat(file.c_str(), &of) != 0) return {};
  return {of.st_size, of.st_mtim.tv_sec * 1'000'000'000L + of.st_mtim.tv_nsec};
}

void scan(RunTree& tree) {
  auto known = read_index(tree.folder);
  auto saved = std::chrono::steady_clock::now();
  for (const auto& file : files_in(tree.folder)) {
    const auto name = file.lexically_relative(tree.folder).generic_string();
    const auto stamp = stamp_of(file);
    // A problem may be gone by now: a clock that was ahead, a schema that was too new. A journal
    // grows.
    const auto found = known.find(name);
    if (found != known.end() && found->second.stamp == stamp && found->second.problem.empty() &&
        !fs::exists(file.string() + std::string(journal_suffix))) {
      tree.files.insert(known.extract(found));
      continue;
    }
    auto& entry = tree.files[name] = read_entry(file);
    entry.stamp = stamp;
    ++tree.read;
    if (std::chrono::steady_clock::now() - saved > save_every) {
      tree.save();
      saved = std::chrono::steady_clock::now();
    }
  }
}

void add_runs(RunTree& tree) {
  std::map<std::string, std::string> names;
  for (auto& [name, entry] : tree.files) {
    if (!entry.problem.empty()) tree.left_out.emplace_back(name, entry.problem);
    if (!entry.record) continue;
    const auto& record = *entry.record;
    const auto [first, fresh] = names.emplace(record.id, name);
    if (!fresh) {
      tree.left_out.emplace_back(
          name, fmt::format("has the run id {} of {}, which counts", record.id, first->second));
      continue;
    }
    for (const auto& problem : record.problems) {
      tree.left_out.emplace_back(name, problem + "; it is left out");
    }
    tree.runs.push_back({.path = tree.folder / name, .entry = &entry, .seconds = record.seconds()});
  }
  std::ranges::sort(tree.runs, [](const HistoryRun& a, const HistoryRun& b) {
    return std::pair(a.seconds, a.record().id) < std::pair(b.seconds, b.record().id);
  });
}

void place_runs(RunTree& tree) {
  std::vector<Result> heads;
  for (const auto& run : tree.runs) heads.push_back(run.record().head);
  auto places = places_in_streams(heads);
  for (std::size_t at = 0; at < heads.size(); ++at) {
    tree.runs[at].place = std::move(places[at]);
    tree.runs[at].environment = environment_in_words(heads[at]);
  }
}

}  // namespace

void RunTree::save() const { write_index(folder, files); }

RunTree read_tree(const fs::path& folder) {
  RunTree tree{.folder = folder};
  scan(tree);
  add_runs(tree);
  place_runs(tree);
  return tree;
}

IndexEntry entry_of_run(const fs::path& file) { return {.record = read_record(file)}; }

}  // namespace ucxbench
