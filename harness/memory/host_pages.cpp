#include "harness/memory/host_pages.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <linux/mempolicy.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <climits>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

#include "harness/core/failure.hpp"
#include "harness/core/files.hpp"
#include "harness/core/text.hpp"
#include "harness/core/units.hpp"

namespace ucxbench {
namespace {

constexpr int most_nodes = 1024;
constexpr const char* meminfo = "/proc/meminfo";

std::vector<int> listed(const std::string& text) {
  return text.empty() ? std::vector<int>() : parse_list(text);
}

/// What stands behind a name at the beginning of a line of a file of /proc.
std::string behind(const char* file, std::string_view name) {
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(name)) return line.substr(name.size());
  }
  return "";
}

/// "   2048 kB"
std::uint64_t kib_in(const std::string& text) {
  return text.empty() ? 0 : std::stoull(text) * 1024;
}

// Before its first touch. The C library has no function for it, and libnuma's would be one more
// library for one call.
void bind_to(std::span<std::byte> bytes, int node) {
  constexpr int bits = CHAR_BIT * sizeof(unsigned long);
  std::array<unsigned long, most_nodes / bits> mask{};
  const auto at = static_cast<unsigned>(node);
  mask.at(at / bits) |= 1UL << at % bits;
  if (syscall(SYS_mbind, bytes.data(), bytes.size(), MPOL_BIND, mask.data(), most_nodes, 0) == 0) {
    return;
  }
  throw Failure(Exit::cannot_run,
                fmt::format("no memory can be bound to NUMA node {} (mbind: {}){}", node,
                            std::strerror(errno),
                            errno == EPERM ? "; a container needs the capability SYS_NICE" : ""));
}

void check_exists(int node) {
  const auto nodes = memory_nodes();
  if (std::ranges::find(nodes, node) != nodes.end()) return;
  if (nodes.empty()) throw Failure(Exit::cannot_run, "the system names no NUMA nodes");
  throw Failure(Exit::cannot_run,
                fmt::format("host:node{}: this process may have memory on NUMA node{} {}", node,
                            nodes.size() == 1 ? "" : "s", fmt::join(nodes, ", ")));
}

std::string no_huge_pages(std::size_t bytes, std::uint64_t page) {
  const auto count = [](std::string_view name) {
    const auto text = behind(meminfo, name);
    return std::string(trim_text(text));
  };
  const auto needed = bytes / page;
  return fmt::format(
      "host:huge: {} need{} {} huge page{} of {}, and {} of {} are free; as root: sysctl "
      "vm.nr_hugepages=N, of all ranks together",
      spaced_size(bytes), needed == 1 ? "s" : "", needed, needed == 1 ? "" : "s", spaced_size(page),
      count("HugePages_Free:"), count("HugePages_Total:"));
}

std::span<std::byte> map(const MemoryKind& kind, std::size_t asked) {
  const auto page = page_bytes(kind);
  const bool huge = kind.way == MemoryWay::huge;
  if (huge && page == 0) throw Failure(Exit::cannot_run, "host:huge: no huge pages in this kernel");
  // Of a size that cannot be, mmap says so.
  const auto bytes = asked > SIZE_MAX - page ? asked : (asked + page - 1) / page * page;
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | (huge ? MAP_HUGETLB : 0);
  void* mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
  if (mapped != MAP_FAILED) return {static_cast<std::byte*>(mapped), bytes};
  throw Failure(Exit::cannot_run, huge ? no_huge_pages(bytes, page)
                                       : fmt::format("no memory for a buffer of {}: {}",
                                                     spaced_size(asked), std::strerror(errno)));
}

void check_huge(const std::byte* address, std::uint64_t page) {
  const auto found = kernel_page_bytes(address);
  if (found == page) return;
  throw Failure(Exit::cannot_run,
                fmt::format("host:huge: the kernel gave pages of {} instead of {}",
                            spaced_size(found), spaced_size(page)));
}

}  // namespace

std::vector<int> memory_nodes() {
  const auto there = listed(first_line("/sys/devices/system/node/has_memory"));
  const auto allowed = listed(behind("/proc/self/status", "Mems_allowed_list:\t"));
  std::vector<int> both;
  std::ranges::set_intersection(there, allowed, std::back_inserter(both));
  return both;
}

std::uint64_t page_bytes(const MemoryKind& kind) {
  return kind.way == MemoryWay::huge ? kib_in(behind(meminfo, "Hugepagesize:"))
                                     : static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

std::uint64_t kernel_page_bytes(const std::byte* address) {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  std::ifstream maps("/proc/self/smaps");
  bool here = false;
  for (std::string line; std::getline(maps, line);) {
    constexpr std::string_view name = "KernelPageSize:";
    if (here && line.starts_with(name)) return kib_in(line.substr(name.size()));
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
    constexpr int hexadecimal = 16;
    const auto* const last = line.data() + line.size();
    const auto first = std::from_chars(line.data(), last, begin, hexadecimal);
    if (first.ptr == last || *first.ptr != '-') continue;
    std::from_chars(first.ptr + 1, last, end, hexadecimal);
    here = begin <= at && at < end;
  }
  return 0;
}

HostPages::HostPages(const MemoryKind& kind, std::size_t bytes) : kind_(kind), asked_(bytes) {
  if (kind.way == MemoryWay::node) check_exists(kind.node);
  bytes_ = map(kind, bytes);
  try {
    if (kind.way == MemoryWay::node) bind_to(bytes_, kind.node);
    if (kind.way == MemoryWay::huge) check_huge(bytes_.data(), page_bytes(kind));
  } catch (...) {
    munmap(bytes_.data(), bytes_.size());
    throw;
  }
}

HostPages::~HostPages() { munmap(bytes_.data(), bytes_.size()); }

void HostPages::check_node() const {
  if (kind_.way != MemoryWay::node) return;
  const auto page = page_bytes(kind_);
  constexpr std::size_t at_once = 4096;
  std::vector<void*> pages;
  std::vector<int> nodes(at_once);
  for (std::size_t at = 0; at < bytes_.size();) {
    pages.clear();
    for (; pages.size() < at_once && at < bytes_.size(); at += page) {
      pages.push_back(bytes_.data() + at);
    }
    // Without nodes to move to, it says where they are.
    if (syscall(SYS_move_pages, 0, pages.size(), pages.data(), nullptr, nodes.data(), 0) != 0) {
      throw Failure(Exit::cannot_run, fmt::format("host:node{}: where its pages are is not known "
                                                  "(move_pages: {})",
                                                  kind_.node, std::strerror(errno)));
    }
    const auto all = std::span(nodes).first(pages.size());
    const auto other = std::ranges::find_if(all, [&](int node) { return node != kind_.node; });
    if (other == all.end()) continue;
    throw Failure(Exit::cannot_run,
                  fmt::format("host:node{}: the kernel put a page {}", kind_.node,
                              *other < 0 ? std::string("nowhere: ") + std::strerror(-*other)
                                         : fmt::format("on NUMA node {}", *other)));
  }
}

}  // namespace ucxbench
