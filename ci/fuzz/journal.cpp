// The lines of a journal, below its first, and what is written and found of the run that they make.

#include "harness/result/journal.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

#include "ci/fuzz/refusal.hpp"
#include "harness/analysis/findings.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ucxbench;
  Result run;
  run.run = {{"id", "a run"}};
  run.cases.emplace_back().parameters = Json::object();
  const auto text = journal_head(run).append(reinterpret_cast<const char*>(data), size);
  bool read = false;
  read_or_refuse([&] {
    take_journal(run, text, "input");
    read = true;
  });
  if (!read) return 0;
  read_or_refuse([&] { parse_result(to_text(to_json(run)), "what was written"); });
  read_or_refuse([&] { findings_of(run); });
  return 0;
}
