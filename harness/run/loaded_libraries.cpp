#include "harness/run/loaded_libraries.hpp"

#include <link.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "harness/core/text.hpp"

namespace ucxbench {
namespace {

using Libraries = std::map<std::string, LoadedLibrary>;

constexpr std::size_t shown_bytes = 6;  // of 20: two files with as many in common are one

std::size_t aligned(std::size_t bytes) { return (bytes + 3) & ~std::size_t{3}; }

// Of one segment of notes; empty where it has none.
std::string build_id(std::span<const unsigned char> notes) {
  while (notes.size() >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) note{};
    std::memcpy(&note, notes.data(), sizeof note);
    const auto description = sizeof note + aligned(note.n_namesz);
    const auto end = description + aligned(note.n_descsz);
    if (end > notes.size()) return "";
    const std::string_view name(reinterpret_cast<const char*>(notes.data()) + sizeof note,
                                note.n_namesz);
    if (note.n_type == NT_GNU_BUILD_ID && name == std::string_view("GNU", 4)) {
      return hex_text(
          notes.subspan(description, std::min<std::size_t>(note.n_descsz, shown_bytes)));
    }
    notes = notes.subspan(end);
  }
  return "";
}

int add_library(dl_phdr_info* info, std::size_t, void* into) {
  const std::filesystem::path path(info->dlpi_name);
  // The program itself has no name, and the kernel's own library no file.
  if (!path.is_absolute()) return 0;
  LoadedLibrary library{.path = path.string(), .build = ""};
  for (const auto& segment : std::span(info->dlpi_phdr, info->dlpi_phnum)) {
    if (segment.p_type != PT_NOTE) continue;
    const auto* begin = reinterpret_cast<const unsigned char*>(info->dlpi_addr + segment.p_vaddr);
    if (library.build.empty()) library.build = build_id({begin, segment.p_memsz});
  }
  static_cast<Libraries*>(into)->insert_or_assign(path.filename().string(), std::move(library));
  return 0;
}

}  // namespace

std::string in_words(const LoadedLibrary& library) {
  return library.path + (library.build.empty() ? "" : " (build " + library.build + ")");
}

std::map<std::string, LoadedLibrary> loaded_libraries() {
  Libraries libraries;
  dl_iterate_phdr(add_library, &libraries);
  return libraries;
}

Json loaded_libraries_json() {
  Json libraries = Json::object();
  for (const auto& [name, library] : loaded_libraries()) libraries[name] = in_words(library);
  return libraries;
}

}  // namespace ucxbench
