#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace ucxbench {

// Of /proc and /sys: what is not there, or may not be read, is empty, never an error.

std::string text_of(const std::filesystem::path& file);
std::string first_line(const std::filesystem::path& file);

/// The decimal number that the file begins with.
std::optional<std::uint64_t> number_of(const std::filesystem::path& file);

/// The names in a folder, sorted.
std::vector<std::string> entries_of(const std::filesystem::path& folder);

/// This program's file by its real name: in another process /proc/self/exe would be that one's.
std::filesystem::path own_program();

/// What tells this process's namespace of a kind ("net", "pid", "user", "ipc") from others of this
/// host: "net:[4026531840]".
std::string own_namespace(const char* kind);

/// A whole file that a person has named, or a pipe. Throws Failure(Exit::usage), "cannot read
/// 'FILE': why; `advice`" or "'FILE' is larger than 16 MiB; `advice`": at more than `most_bytes`,
/// which are whole MiB, it stops reading.
std::string read_given(const std::filesystem::path& file, std::uint64_t most_bytes,
                       const std::string& advice);

}  // namespace ucxbench
