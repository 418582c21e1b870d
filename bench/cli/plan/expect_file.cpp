#include "bench/cli/plan/expect_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "bench/cli/options/memory_options.hpp"
#include "bench/cli/options/toml_file.hpp"
#include "bench/cli/options/transport_options.hpp"
#include "harness/topology/graph.hpp"
#include "harness/transports/transport_set.hpp"

namespace ucxbench {
namespace {

/// One [[expect]], as it is read.
class ExpectTable {
 public:
  ExpectTable(const toml::table& table, const std::string& file) : table_(table), file_(file) {}

  Expectation read() const {
    check_toml_keys(table_, {"node", "transports", "memory", "class", "min_GBps", "max_us", "path"},
                    file_, "");
    Expectation expected{.place = toml_place(file_, table_), .node = text("node", "as \"gpu\"")};
    expected.transports = text("transports", "as \"tcp,shm\"");
    if (expected.transports.empty()) {
      refuse_toml(expected.place, "expected transports = \"SET\", as transports = \"tcp,shm\"");
    }
    at_line("transports", [&] { return TransportSet::parse(expected.transports); });
    if (const auto memory = text("memory", "as \"cuda\""); !memory.empty())
      expected.memory = memory;
    expected.path_class = path_class(expected.memory);
    expected.min_GBps = positive("min_GBps");
    expected.max_us = positive("max_us");
    if (const auto path = text("path", "as \"nvlink\""); !path.empty()) {
      const auto set = at_line("path", [&] { return TransportSet::parse(path); });
      if (const auto why = why_never_missed(set); !why.empty()) refuse_toml(place("path"), why);
      expected.carriers = set.members();
    }
    if (!expected.min_GBps && !expected.max_us && expected.carriers.empty()) {
      refuse_toml(expected.place, "nothing is expected: give min_GBps, max_us or path");
    }
    return expected;
  }

 private:
  std::string place(const std::string& key) const {
    return toml_place(file_, *table_.get(key)) + ": " + key;
  }

  /// What `parse` refuses names the option that has the same words.
  template <typename Parse>
  std::invoke_result_t<Parse> at_line(const std::string& key, Parse parse) const {
    return at_toml(toml_place(file_, *table_.get(key)), parse);
  }

  /// Empty where the key is missing.
  std::string text(const std::string& key, const std::string& example) const {
    const auto* node = table_.get(key);
    if (node == nullptr) return "";
    const auto text = node->value_exact<std::string>();
    if (!text || text->empty()) refuse_toml(place(key), "expected text in quotes, " + example);
    return *text;
  }

  std::optional<double> positive(const std::string& key) const {
    const auto* node = table_.get(key);
    if (node == nullptr) return std::nullopt;
    const auto value = node->is_number() ? node->value<double>() : std::nullopt;
    if (!value || !std::isfinite(*value) || *value <= 0) {
      refuse_toml(place(key), "expected a number above 0, without a unit");
    }
    return value;
  }

  std::string path_class(const std::string& memory) const {
    const auto parse = [&] { return parse_memory_pair(memory); };
    const auto kinds = table_.contains("memory") ? at_line("memory", parse) : parse();
    const auto word = text("class", "as \"NV2\"");
    if (word.empty()) return "";
    const auto known = parse_path_class(word);
    if (!known) {
      refuse_toml(place("class"), fmt::format("unknown class '{}': as `ucx-bench topo` prints them,"
                                              " NV1, PIX, PXB, PHB, NODE, SYS",
                                              word));
    }
    for (const auto kind : kinds) {
      if (on_gpu(kind)) continue;
      refuse_toml(place("class"), "only pairs of GPUs have one: add memory = \"cuda\"");
    }
    return to_string(*known);
  }

  const toml::table& table_;
  const std::string& file_;
};

/// One [[node]].
NodeClass read_node(const toml::table& table, const std::string& file) {
  check_toml_keys(table, {"name", "cpu", "gpus", "nics"}, file, "");
  const auto place = toml_place(file, table);
  NodeClass node;
  const auto text = [&](const toml::node& value, const std::string& key) {
    const auto words = value.value_exact<std::string>();
    if (!words) refuse_toml(place, key + ": expected text in quotes");
    return *words;
  };
  const auto* name = table.get("name");
  node.name = name == nullptr ? "" : text(*name, "name");
  if (node.name.empty()) refuse_toml(place, "expected name = \"…\", by which [[expect]] calls it");
  if (const auto* cpu = table.get("cpu")) node.cpu = text(*cpu, "cpu");
  const auto texts = [&](const char* key) {
    std::vector<std::string> all;
    const auto* value = table.get(key);
    if (value == nullptr) return all;
    const auto* list = value->as_array();
    if (list == nullptr) refuse_toml(place, std::string(key) + ": expected [\"8 x MODEL\", …]");
    for (const auto& entry : *list) all.push_back(text(entry, key));
    return all;
  };
  node.gpus = texts("gpus");
  node.nics = texts("nics");
  return node;
}

void read_nodes(const toml::table& table, const std::string& file, SiteFile& site) {
  if (!table.contains("node")) return;
  for (const auto& entry : toml_entries(table, "node", "describe", file)) {
    const auto* node = entry.as_table();
    if (node == nullptr) refuse_toml(toml_place(file, entry), "expected [[node]] with name below");
    auto read = read_node(*node, file);
    for (const auto& known : site.nodes) {
      if (known.name != read.name && !known.same(read)) continue;
      refuse_toml(toml_place(file, entry),
                  fmt::format("node '{}' has the name of another one, or all that '{}' has",
                              read.name, known.name));
    }
    site.nodes.push_back(std::move(read));
  }
}

/// ["1 x A", "2 x B"] as TOML: quoted, as JSON quotes.
std::string toml_list(const std::vector<std::string>& texts) { return Json(texts).dump(); }

}  // namespace

SiteFile read_site(const std::string& file) {
  const auto table = parse_toml(file, "a site's TOML file, which --write-expect begins");
  check_toml_keys(table, {"ranks", "node", "expect"}, file, "");
  SiteFile site;
  site.ranks = toml_number(table, "ranks", 2, 1024, file).value_or(site.ranks);
  read_nodes(table, file, site);
  for (const auto& entry : toml_entries(table, "expect", "check", file)) {
    const auto* expect = entry.as_table();
    if (expect == nullptr) {
      refuse_toml(toml_place(file, entry), "expected [[expect]] with transports = \"…\" below");
    }
    site.expectations.push_back(ExpectTable(*expect, file).read());
    const auto& added = site.expectations.back();
    if (added.node.empty() ||
        std::ranges::find(site.nodes, added.node, &NodeClass::name) != site.nodes.end()) {
      continue;
    }
    refuse_toml(added.place, fmt::format("no [[node]] has the name '{}'", added.node));
  }
  return site;
}

std::string site_text(const SiteFile& site, const std::string& comment) {
  return more_site_text(site, fmt::format("{}ranks = {}\n", comment, site.ranks));
}

std::string more_site_text(const SiteFile& site, const std::string& comment) {
  auto text = comment;
  for (const auto& node : site.nodes) {
    text += fmt::format("\n[[node]]\nname = {}\ncpu = {}\ngpus = {}\nnics = {}\n",
                        Json(node.name).dump(), Json(node.cpu).dump(), toml_list(node.gpus),
                        toml_list(node.nics));
  }
  for (const auto& expected : site.expectations) {
    text += "\n[[expect]]\n";
    if (!expected.node.empty()) text += fmt::format("node = {}\n", Json(expected.node).dump());
    text += fmt::format("transports = \"{}\"\n", expected.transports);
    if (expected.memory != "host") text += fmt::format("memory = \"{}\"\n", expected.memory);
    if (!expected.path_class.empty()) text += fmt::format("class = \"{}\"\n", expected.path_class);
    if (expected.min_GBps) text += fmt::format("min_GBps = {:g}\n", *expected.min_GBps);
    if (expected.max_us) text += fmt::format("max_us = {:g}\n", *expected.max_us);
    if (!expected.carriers.empty())
      text += fmt::format("path = \"{}\"\n", fmt::join(expected.carriers, ","));
  }
  return text;
}

const NodeClass* find_class(const SiteFile& site, const NodeClass& node) {
  const auto found =
      std::ranges::find_if(site.nodes, [&](const NodeClass& of) { return of.same(node); });
  return found == site.nodes.end() ? nullptr : &*found;
}

}  // namespace ucxbench
