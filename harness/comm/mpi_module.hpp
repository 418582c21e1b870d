#pragma once

#include <cstddef>
#include <cstdint>

// What the device takes of MPI. An own module that is built where there is an MPI, and loaded at
// run time, has it: the program starts without MPI, and no header of MPI is seen outside the
// module. Functions that can fail return null, or why they did, in words that are good until the
// next call. Of one thread.

namespace ucxbench {

inline constexpr std::size_t mpi_setting_room = 4096;

/// A message that is over.
struct MpiDone {
  enum Error : int { none, truncated, other };
  void* message;
  std::uint64_t bytes;  ///< of a receive: that came
  Error error;
  bool received;
};

/// A peer and a label, looked up once for many messages.
struct MpiRoute {
  std::size_t communicator;
  int peer, tag;
};

/// A message that its link asks for by itself. It stays where it is until it is over.
struct MpiRequest {
  alignas(void*) std::byte handle[sizeof(void*)];  ///< MPI's
  bool receives;
};

struct MpiModule {
  /// sizeof(MpiModule) of who built it; of another build it may be another.
  std::size_t bytes;

  // At any time.
  const char* (*library)();    ///< its version, several lines
  bool (*takes_gpu_memory)();  ///< it says that it does
  /// The value of one, into mpi_setting_room bytes; false: it has no such.
  bool (*setting)(const char* name, char* value);

  /// MPI_Init, and communicators for so many labels; all ranks, once in a process.
  const char* (*begin)(std::uint64_t labels, int* rank, int* size);
  /// MPI_Finalize; all ranks.
  void (*end)();

  /// Begins a message to a rank, or from one. `message` is returned by `step`.
  const char* (*send)(int to, std::uint64_t label, const void* from, std::uint64_t bytes,
                      void* message);
  const char* (*receive)(int from, std::uint64_t label, void* to, std::uint64_t bytes,
                         void* message);
  /// One step of progress: messages that are over, good until the next call.
  const char* (*step)(const MpiDone** done, std::size_t* count);
  /// Messages that are under way are given up.
  void (*forget)();

  // For timed loops: messages that `step` says nothing of.
  MpiRoute (*route)(int peer, std::uint64_t label);
  const char* (*post_send)(const MpiRoute& to, const void* from, std::uint64_t bytes,
                           MpiRequest* request);
  const char* (*post_receive)(const MpiRoute& from, void* to, std::uint64_t bytes,
                              MpiRequest* request);
  /// Whether it is over, and then how, after one step of progress where it is not.
  bool (*test)(MpiRequest* request, MpiDone* done);
  /// Returns when it is over.
  void (*wait)(MpiRequest* request, MpiDone* done);
  /// It is under way, and given up.
  void (*give_up)(MpiRequest* request);
};

/// Its name, as `dlsym` finds it.
inline constexpr const char* mpi_module_symbol = "ucxbench_mpi";

}  // namespace ucxbench
