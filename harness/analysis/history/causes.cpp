#include "harness/analysis/history/causes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <set>

#include "harness/core/literal.hpp"
#include "harness/core/units.hpp"
#include "harness/result/cases.hpp"
#include "harness/result/words.hpp"

namespace ucxbench {
namespace {

constexpr std::array said_plainly = {"benchmark", "transports", "api",
                                     "metric"};  // said by their value
constexpr std::array starts_programs = {"--wrap", "--base", "--new"};
constexpr std::size_t least_rows = 2;  // that have a cause in common
constexpr std::size_t least_commit = 7, most_commit = 64, shown_commit = 12;

using FactField = std::pair<std::string, std::string>;

/// Up to two fields with their values, and a bound of the size.
struct Condition {
  std::vector<FactField> fields{};
  std::optional<std::uint64_t> least{}, most{};

  bool holds_for(const CauseFacts& row) const {
    return std::ranges::all_of(fields,
                               [&](const FactField& field) {
                                 return std::ranges::find(row.fields, field) != row.fields.end();
                               }) &&
           (!least || row.bytes.value_or(0) >= *least) &&
           (!most || (row.bytes && *row.bytes <= *most));
  }

  std::string in_words() const {
    std::string words = "all";
    for (const auto& [name, value] : fields) {
      auto said = name;
      std::ranges::replace(said, '_', ' ');
      words += " " +
               (std::ranges::find(said_plainly, name) == said_plainly.end() ? said + " " : "") +
               value;
    }
    if (fields.empty()) words += " cases";
    if (least) words += " ≥ " + spaced_size(*least);
    if (most) words += " ≤ " + spaced_size(*most);
    return words;
  }
};

/// The simplest first. What all rows have tells none apart.
std::vector<Condition> conditions_for(const std::vector<CauseFacts>& lost,
                                      const std::vector<CauseFacts>& kept) {
  const auto everywhere = [&](const FactField& field) {
    const Condition condition{.fields = {field}};
    const auto holds = [&](const CauseFacts& row) { return condition.holds_for(row); };
    return std::ranges::all_of(lost, holds) && std::ranges::all_of(kept, holds);
  };
  std::vector<FactField> fields;
  std::set<std::uint64_t> sizes;
  for (const auto& row : lost) {
    for (const auto& field : row.fields) {
      if (std::ranges::find(fields, field) == fields.end() && !everywhere(field)) {
        fields.push_back(field);
      }
    }
    if (row.bytes && *row.bytes > 0) sizes.insert(*row.bytes);
  }
  std::vector<std::vector<FactField>> chosen = {{}};
  for (const auto& field : fields) chosen.push_back({field});
  for (std::size_t a = 0; a < fields.size(); ++a) {
    for (std::size_t b = a + 1; b < fields.size(); ++b) chosen.push_back({fields[a], fields[b]});
  }
  std::vector<Condition> conditions;
  for (const auto& some : chosen) {
    conditions.push_back({.fields = some});
    for (const auto size : sizes) conditions.push_back({.fields = some, .least = size});
    for (auto size = sizes.rbegin(); size != sizes.rend(); ++size) {
      conditions.push_back({.fields = some, .most = *size});
    }
  }
  return conditions;
}

/// Its first digits; empty if a run file says something else, which must not get into a shell.
std::string commit_of(const HistoryRun& run) {
  const auto& commit = run.record().commit;
  const bool is_one = commit.size() >= least_commit && commit.size() <= most_commit &&
                      commit.find_first_not_of("0123456789abcdef") == std::string::npos;
  return is_one ? commit.substr(0, shown_commit) : "";
}

/// Whether a run file's command is ucx-bench's, and starts no other program: else nobody is told to
/// type it.
bool measures_only(const std::vector<std::string>& command) {
  if (command.empty()) return false;
  const auto& program = command.front();
  if (program != "ucx-bench" && !program.ends_with("/ucx-bench")) return false;
  return std::ranges::none_of(command, [](const std::string& word) {
    return std::ranges::find(starts_programs, word.substr(0, word.find('='))) !=
           starts_programs.end();
  });
}

}  // namespace

CauseFacts facts_of(const std::string& key, const std::string& metric, const Case* of) {
  CauseFacts facts{.fields = {{"benchmark", key.substr(0, key.find('/'))}, {"metric", metric}}};
  if (of == nullptr) return facts;
  const auto size = std::ranges::find(of->shows.axes, "B", &AxisValue::unit);
  for (const auto& [name, value] : of->parameters.items()) {
    if (value.is_null() || (size != of->shows.axes.end() && name == size->name)) continue;
    facts.fields.emplace_back(name, join(texts_of(value), "+"));
  }
  if (size != of->shows.axes.end() && size->value.is_number()) {
    facts.bytes = size->value.get<std::uint64_t>();
  }
  return facts;
}

std::vector<Cause> causes_of(std::vector<CauseFacts> lost, const std::vector<CauseFacts>& kept) {
  std::vector<Cause> found;
  while (lost.size() >= least_rows) {
    const Condition* best = nullptr;
    std::size_t covered = least_rows - 1;
    const auto conditions = conditions_for(lost, kept);
    for (const auto& condition : conditions) {
      const auto holds = [&](const CauseFacts& row) { return condition.holds_for(row); };
      const auto hit = static_cast<std::size_t>(std::ranges::count_if(lost, holds));
      if (hit <= covered || std::ranges::any_of(kept, holds)) continue;
      best = &condition;
      covered = hit;
    }
    if (best == nullptr) break;
    found.emplace_back(best->in_words(), covered);
    std::erase_if(lost, [&](const CauseFacts& row) { return best->holds_for(row); });
  }
  return found;
}

std::string suspects_between(const HistoryRun& base, const HistoryRun& now) {
  const auto first = commit_of(base), last = commit_of(now);
  if (first.empty() || last.empty() || first == last) return "";
  return fmt::format("git log --oneline {}..{}", first, last);
}

std::vector<NextCommand> commands_after(const HistoryRun& base, const HistoryRun& now,
                                        const HistoryRun& since) {
  std::vector<NextCommand> commands;
  const auto log = suspects_between(base, since);
  if (!log.empty()) commands.emplace_back("suspects", log);
  auto words = now.record().command;
  if (!measures_only(words)) return commands;
  const auto json = std::ranges::find(words, "--json");
  if (json != words.end()) words.erase(json, std::min(json + 2, words.end()));
  words.insert(words.end(), {"--json", "again.json"});
  const auto again = fmt::format("{} && {} again.json --fail-on regression", command_line(words),
                                 command_line({"ucx-bench", "compare", base.path.string()}));
  commands.emplace_back("again", again);
  if (!log.empty()) {
    commands.emplace_back(
        "the commit", fmt::format("git bisect start {} {} && git bisect run sh -c {}",
                                  commit_of(since), commit_of(base),
                                  for_shell("scripts/setup/build release ucx-bench && " + again)));
  }
  return commands;
}

}  // namespace ucxbench
