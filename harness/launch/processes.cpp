#include "harness/launch/processes.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <system_error>
#include <thread>

namespace ucxbench {
namespace {

std::vector<ProcessState> states_in(const std::filesystem::path& folder) {
  std::vector<ProcessState> states;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const auto name = entry->path().filename().string();
    ProcessState state{};
    std::from_chars(name.data(), name.data() + name.size(), state.id);
    std::ifstream stat(entry->path() / "stat");
    std::string text;
    if (state.id <= 0 || !std::getline(stat, text)) continue;
    // "PID (NAME) STATE PPID PGRP …", where the name may hold anything.
    std::istringstream words(text.substr(text.rfind(')') + 1));
    pid_t parent = 0;
    if (words >> state.state >> parent >> state.group) states.push_back(state);
  }
  return states;
}

}  // namespace

std::vector<ProcessState> all_processes() { return states_in("/proc"); }

std::vector<ProcessState> threads_of(pid_t process) {
  return states_in("/proc/" + std::to_string(process) + "/task");
}

bool give_way_at_their_end(std::size_t ranks) {
  constexpr std::size_t most_per_cpu = 4;
  return ranks > most_per_cpu * std::thread::hardware_concurrency();
}

bool is_over(pid_t process) {
  return std::ranges::all_of(threads_of(process), [](const ProcessState& thread) {
    return thread.state == 'Z' || thread.state == 'X';
  });
}

}  // namespace ucxbench
