#pragma once

#include <filesystem>
#include <string_view>

namespace ucxbench {

/// Makes a file with these bytes: 0, or the errno. Nothing is written through what stands there,
/// which may be somebody else's link (EEXIST).
int write_new(const std::filesystem::path& file, std::string_view bytes);

}  // namespace ucxbench
