#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace ucxbench {

/// The CPUs of a mask of 32-bit hexadecimal words, the highest first, as the kernel, hwloc
/// ("0x00000003,,0x0") and NCCL ("000000ff,ffff0000") write it; ascending. Empty when it is none,
/// is infinite ("0xf...f") or longer than 1024 words.
std::optional<std::vector<int>> parse_cpu_mask(std::string_view text);

/// Whether the sorted `part` is not empty and all of it is in the sorted `whole`.
bool is_part_of(const std::vector<int>& part, const std::vector<int>& whole);

}  // namespace ucxbench
