// The run file's reader, what it writes again, and what is derived from a run without measuring.

#include <cstddef>
#include <cstdint>
#include <string>

#include "ci/fuzz/refusal.hpp"
#include "harness/analysis/advice.hpp"
#include "harness/analysis/comparison/comparison.hpp"
#include "harness/analysis/findings.hpp"
#include "harness/analysis/rules/judged.hpp"
#include "harness/result/result.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ucxbench;
  Result result;
  bool read = false;
  read_or_refuse([&] {
    result = parse_result({reinterpret_cast<const char*>(data), size}, "input");
    read = true;
  });
  if (!read) return 0;
  read_or_refuse([&] { parse_result(to_text(to_json(result)), "what was written"); });
  read_or_refuse([&] { findings_of(result); });
  read_or_refuse([&] { compare(result, result); });
  read_or_refuse([&] {
    auto advice = advise(topology_of(result));
    add_bandwidths(Judged(result), advice);
    bandwidths_of(result, advice);
  });
  return 0;
}
