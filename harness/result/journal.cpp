#include "harness/result/journal.hpp"

#include <fmt/format.h>

#include "harness/core/failure.hpp"
#include "harness/core/json_depth.hpp"
#include "harness/result/events.hpp"

namespace ucxbench {
namespace {

constexpr const char* journal_schema = "ucx-bench/journal/1";

Json head_of(const Result& run) {
  return {{"schema", journal_schema}, {"run", run.run.value("id", Json())}};
}

Json parsed(std::string_view line) {
  if (too_deep(line)) throw std::invalid_argument("too many levels");
  return Json::parse(line);
}

}  // namespace

std::filesystem::path journal_of(const std::filesystem::path& run_file) {
  auto file = run_file;
  return file += journal_suffix;
}

std::filesystem::path run_file_of(const std::filesystem::path& named) {
  const auto text = named.string();
  return text.ends_with(journal_suffix) ? text.substr(0, text.size() - journal_suffix.size())
                                        : text;
}

std::string journal_line(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string journal_head(const Result& run) { return journal_line(head_of(run)); }

void take_journal(Result& run, std::string_view text, const std::string& name) {
  run.run.erase("journal");
  std::size_t number = 0;
  try {
    for (auto end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
      ++number;
      const auto line = parsed(text.substr(0, end));
      if (number > 1) {
        apply_event(run, line);
      } else if (line != head_of(run)) {
        return;
      }
      text.remove_prefix(end + 1);
    }
    sum_up(run);
  } catch (const std::exception& error) {
    throw Failure(Exit::usage, fmt::format("'{}' is a damaged journal of a run (line {}: {}); "
                                           "remove it to read the run without it",
                                           name, number, in_one_line(why_not_json(error))));
  }
}

}  // namespace ucxbench
