#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace ucxbench {

/// Who has chosen a file's name. A link of a name that a person gave is followed, also to a file
/// that is not there yet. One of a name that this program makes up may be anybody's: what it points
/// to is never touched.
enum class NamedBy { person, program };

/// What the name stands for when links in its last part are followed, also one to nothing.
std::filesystem::path follow_links(std::filesystem::path file);

/// Writes `bytes` beside `file` and renames: a reader or a crash never sees half a file, and what
/// has been written when this returns is on the disk. What a person named and is not a regular file
/// (/dev/stdout, a pipe) is written to directly: a named pipe waits 10 s for a reader, and each
/// write 60 s for it to read. Throws Failure(Exit::usage) when that is impossible.
void write_atomically(const std::filesystem::path& file, const std::string& bytes,
                      NamedBy name = NamedBy::person);

/// Appends all of `bytes`, or nothing. Throws Failure(Exit::usage).
void append_whole(const std::filesystem::path& file, std::string_view bytes,
                  NamedBy name = NamedBy::person);

/// The same for a file that is open to be appended to: 0, or the errno.
int append_whole(int fd, std::string_view bytes);

/// Waits until what was written is on the disk: 0, or the errno. What keeps nothing, such as a
/// terminal, has nothing to be waited for.
int sync(int fd);

/// The same for a file that is named. Throws Failure(Exit::usage).
void sync_file(const std::filesystem::path& file);

/// Brings the names in the folder of `file` to the disk: 0, or the errno.
int sync_folder_of(const std::filesystem::path& file);

/// Throws Failure(Exit::usage): "cannot write 'FILE': why; choose another path".
[[noreturn]] void cannot_write(const std::filesystem::path& file, int error);

}  // namespace ucxbench
