#pragma once

#include <stdexcept>
#include <string>

namespace ucxbench {

/// The exit status of ucx-bench: a verdict, never a count. When several apply, `worse` picks by
/// the documented precedence 130, 4, 5, 1, 6, 3, 0; 2 ends a run before anything is measured.
enum class Exit : int {
  done = 0,
  gate = 1,
  usage = 2,
  cannot_run = 3,
  wrong_data = 4,
  lost = 5,
  inconclusive = 6,
  interrupted = 130,
};

Exit worse(Exit a, Exit b);

/// Of a status that another process has sent: `lost` where there is no such.
Exit exit_of(int status);

/// An error with the exit status that it leads to. The text is one line: what was wrong, and what
/// would be right.
class Failure : public std::runtime_error {
 public:
  Failure(Exit exit, const std::string& what) : std::runtime_error(what), exit_(exit) {}
  Exit exit() const { return exit_; }

 private:
  Exit exit_;
};

/// For a Failure about what a file says, which may be anything, and much of it: as on_one_line has
/// it, and after 300 bytes comes " …".
std::string in_one_line(std::string what);

}  // namespace ucxbench
