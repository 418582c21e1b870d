#include "harness/launch/slurm.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <utility>

#include "harness/launch/environment.hpp"
#include "harness/launch/token.hpp"

namespace ucxbench {
namespace {

unsigned long slurm_number(const char* name) {
  return std::strtoul(environment_variable(name).c_str(), nullptr, 10);
}

// Below those that the kernel gives to connections by itself.
std::string port_of_step() {
  constexpr unsigned long lowest = 20000;
  constexpr unsigned long count = 12768;
  constexpr unsigned long steps_of_a_job = 31;
  const auto number = slurm_number("SLURM_JOB_ID") * steps_of_a_job + slurm_number("SLURM_STEP_ID");
  return fmt::format("{}", lowest + number % count);
}

class SlurmTask final : public Launcher {
 public:
  SlurmTask(int task, int tasks) : task_(task), tasks_(tasks) {}

  int index() const override { return task_; }
  int count() const override { return tasks_; }

  Meeting place(const std::string& listen, const std::string& token_file) override {
    // Its own name may be one of loopback's, where others have another address for it.
    auto own = address_towards(environment_variable("SLURM_LAUNCH_NODE_IPADDR"));
    return {where(listen, std::move(own)), load_or_create_token(token_file)};
  }

  void tell(const Meeting&) override {}

  Meeting hear(const std::string& listen, const std::string& token_file) override {
    return {where(listen, first_node(environment_variable("SLURM_STEP_NODELIST"))),
            load_or_create_token(token_file)};
  }

 private:
  static HostPort where(const std::string& listen, std::string otherwise) {
    if (!listen.empty()) return parse_host_port(listen);
    if (slurm_number("SLURM_STEP_NUM_NODES") == 1) otherwise = "127.0.0.1";
    if (otherwise.empty()) ask_for_address();
    return {std::move(otherwise), port_of_step()};
  }

  int task_, tasks_;
};

}  // namespace

std::string first_node(const std::string& node_list) {
  // "(null)" is Slurm's word for none.
  if (node_list.starts_with('(')) return "";
  std::string node;
  for (std::size_t at = 0; at < node_list.size() && node_list[at] != ','; ++at) {
    if (node_list[at] != '[') {
      node += node_list[at];
      continue;
    }
    const auto close = node_list.find(']', at);
    const auto end = node_list.find_first_not_of("0123456789", at + 1);
    if (close == std::string::npos || end == at + 1) return "";
    node += node_list.substr(at + 1, end - at - 1);
    at = close;
  }
  return node;
}

std::unique_ptr<Launcher> meet_by_slurm(int task, int tasks) {
  return std::make_unique<SlurmTask>(task, tasks);
}

}  // namespace ucxbench
