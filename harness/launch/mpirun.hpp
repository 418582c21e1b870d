#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/core/fd.hpp"
#include "harness/core/helper_program.hpp"
#include "harness/launch/process.hpp"

namespace ucxbench {

/// The mpirun of one launch, for ranks on this host that use MPI. It does not start the ranks: it
/// starts this program as often (mpi_place_main), which tells the environment that it got and then
/// only waits. A rank that is started with that environment has this place among MPI's processes,
/// and stays a child of its supervisor, which watches, binds and ends it as any other. All files
/// that MPI makes are in one folder in /dev/shm, which goes with this object.
class MpirunJob {
 public:
  /// Starts `mpirun` for so many ranks with what the environment of the first one has. Returns when
  /// all have a place, within 60 s. Throws Failure(Exit::cannot_run) with mpirun's own words, or
  /// Exit::interrupted when `given_up` says so: it is asked ten times a second.
  MpirunJob(const std::string& mpirun, const std::vector<RankCommand>& ranks,
            const GivenUp& given_up);
  /// Kills what mpirun started and mpirun itself, and removes the folder. To be called after the
  /// death of the ranks.
  ~MpirunJob();
  MpirunJob(const MpirunJob&) = delete;
  MpirunJob& operator=(const MpirunJob&) = delete;

  /// The command with what the environment of the rank's place has beside its own.
  RankCommand at_place(RankCommand command, int rank) const;

  struct End {
    std::string how;  ///< "mpirun was killed by signal 9"
    bool killed;      ///< nothing that the ranks did is its cause
  };
  /// When it has ended, which it does not by itself. Once.
  std::optional<End> ended();

 private:
  /// A process that mpirun has started.
  struct Place {
    Fd connection;  ///< its end is told to the process by the end of this
    pid_t pid = -1;
    std::vector<std::string> environment{};
  };

  std::vector<std::string> environment_of_mpirun() const;
  void await_places(const GivenUp& given_up);
  void take_place(Fd connection);
  bool all_have_a_place() const;
  std::string words() const;

  std::vector<std::string> given_;  ///< the environment of the first rank
  std::filesystem::path folder_;
  Fd listener_;
  std::vector<Place> places_;  ///< by rank
  std::optional<HelperProgram> mpirun_;
  bool said_end_ = false;
};

/// The hidden command by which mpirun starts this program; its argument is the job's folder.
inline constexpr const char* mpi_place_command = "__mpi_place";

/// What that process does, and returns. If its supervisor is killed, it waits for the death of
/// mpirun, 2 s at most, and removes the folder.
int mpi_place_main(const std::filesystem::path& folder);

/// The variables of a process that mpirun, srun or the like have made for that process alone.
bool is_of_a_launcher(std::string_view variable);

}  // namespace ucxbench
