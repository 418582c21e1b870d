#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/report/dashboard.hpp"

namespace ucxbench {

/// So many samples of each launch that the page stays small.
std::size_t most_samples_of_a_launch(const std::vector<DashboardStream>& streams);

/// To `samples`, by the numbers of lines and runs, what each launch of the last runs has of a
/// stream's lines.
void add_samples(const DashboardStream& of, LoadedRuns& loaded, std::size_t most, Json& samples,
                 std::vector<LeftOut>& left_out);

/// What the page's script draws from (scripts/dashboards/rows.js), and of how many runs at most it
/// has intervals; empty: of all.
std::pair<Json, std::optional<std::size_t>> page_data(const std::vector<DashboardStream>& streams,
                                                      const Json& samples,
                                                      const std::filesystem::path& page);

/// From the page to a file: never another scheme than the page's, whatever the folder is called.
std::string link_to(const std::filesystem::path& file, const std::filesystem::path& page);

}  // namespace ucxbench
