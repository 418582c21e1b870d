#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>

namespace ucxbench {

/// A file of that name in a new folder for temporary files, which nobody else can foresee or write
/// to: for what was measured and does not fit where it was asked for. Empty where there is none.
std::filesystem::path spare_place(const std::filesystem::path& name);

/// The file of a run that is being measured, and the transfer log beside it. Measured data are not
/// lost with a disk that fills up meanwhile: both then go on in the folder for temporary files.
class RunFile {
 public:
  /// `say` takes one line each time that the place changes, or that there is none.
  RunFile(std::filesystem::path file, std::function<void(const std::string&)> say);

  /// Before anything is measured: `text` as the file stands then. Throws Failure(Exit::usage) where
  /// it cannot be written, or where fewer than `more_bytes` are free beyond it.
  void begin(const std::string& text, std::uint64_t more_bytes);

  /// The whole file again. Never throws: see `at_its_place`.
  void write(const std::string& text);

  /// More of the transfer log, which begins anew with this run. Never throws.
  void append_transfers(std::span<const std::uint8_t> sections);

  /// The transfer log's name, wherever the two are.
  std::string transfers_name() const;

  /// Where the run was last written; empty where it could not be written anywhere.
  const std::filesystem::path& file() const { return file_; }

  /// Whether everything is where it was asked for.
  bool at_its_place() const { return why_moved_.empty(); }

 private:
  void move_on(const std::string& why);
  std::filesystem::path log() const;

  std::filesystem::path asked_;
  std::filesystem::path elsewhere_;  ///< empty: not needed so far
  std::filesystem::path file_;
  std::function<void(const std::string&)> say_;
  std::string why_moved_;
  bool logs_ = false;
  bool said_nowhere_ = false;
};

}  // namespace ucxbench
