#include "harness/comm/mpi_module.hpp"

#include <mpi.h>
#if defined(OPEN_MPI)
#include <mpi-ext.h>
#endif

#include <algorithm>
#include <climits>
#include <cstdio>
#include <new>
#include <vector>

namespace ucxbench {
namespace {

// More of them would take long to make.
constexpr std::uint64_t most_communicators = 256;
// One of so many messages to a peer is over only when its receiver has taken it. Open MPI takes
// small messages at once and without end, and who receives them stays in MPI until none is there:
// neither would hear the other any more.
constexpr std::uint64_t most_ahead = 64;
constexpr std::uint64_t block_bytes = std::uint64_t{1} << 20U;

struct UnderWay {
  void* message;
  bool receives;
};

struct World {
  std::vector<MPI_Comm> communicators;
  std::uint64_t tags = 0;              // of each
  std::vector<std::uint64_t> sent_to;  // by rank, messages that `send` began
  // By place: of each message under way.
  std::vector<MPI_Request> requests;
  std::vector<UnderWay> under_way;
  // Of the last step.
  std::vector<int> places;
  std::vector<MPI_Status> statuses;
  std::vector<MpiDone> done;
};

World& world() {
  static World instance;
  return instance;
}

// In MPI's words, with the call.
const char* in_words(const char* call, int error) {
  static char words[MPI_MAX_ERROR_STRING + 64];
  if (error == MPI_SUCCESS) return nullptr;
  char why[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(error, why, &length);
  std::snprintf(words, sizeof words, "%s: %s", call, why);
  return words;
}

const char* library() {
  static char text[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(text, &length);
  return text;
}

bool takes_gpu_memory() {
#if defined(MPIX_CUDA_AWARE_SUPPORT)
  return MPIX_Query_cuda_support() != 0;
#else
  return false;
#endif
}

/// A control variable of MPI's tool interface (MPI 3.1, section 14.3).
struct Variable {
  MPI_Datatype type{};
  MPI_T_enum names{};  // of the values of a number
  int bound_to = 0;    // what kind of object it is of
};

bool find_variable(int index, Variable& found) {
  char none[1];
  int name_length = 0;
  int text_length = 0;
  int verbosity = 0;
  int scope = 0;
  return MPI_T_cvar_get_info(index, none, &name_length, &verbosity, &found.type, &found.names, none,
                             &text_length, &found.bound_to, &scope) == MPI_SUCCESS &&
         found.bound_to == MPI_T_BIND_NO_OBJECT;
}

// Its name, where the value has one.
void write_number(const Variable& of, int number, char* text) {
  std::snprintf(text, mpi_setting_room, "%d", number);
  int count = 0;
  int none = 0;
  if (of.names == MPI_T_ENUM_NULL ||
      MPI_T_enum_get_info(of.names, &count, nullptr, &none) != MPI_SUCCESS) {
    return;
  }
  for (int i = 0; i < count; ++i) {
    int value = 0;
    char name[64];
    int length = sizeof name;
    if (MPI_T_enum_get_item(of.names, i, &value, name, &length) == MPI_SUCCESS && value == number) {
      std::snprintf(text, mpi_setting_room, "%s", name);
    }
  }
}

bool read_variable(int index, const Variable& variable, char* text) {
  MPI_T_cvar_handle handle{};
  int count = 0;
  if (MPI_T_cvar_handle_alloc(index, nullptr, &handle, &count) != MPI_SUCCESS) return false;
  bool known = false;
  if (variable.type == MPI_CHAR && static_cast<std::size_t>(count) <= mpi_setting_room) {
    known = MPI_T_cvar_read(handle, text) == MPI_SUCCESS;
  } else if (variable.type == MPI_INT && count == 1) {
    int number = 0;
    known = MPI_T_cvar_read(handle, &number) == MPI_SUCCESS;
    if (known) write_number(variable, number, text);
  } else if (variable.type == MPI_C_BOOL && count == 1) {
    bool yes = false;
    known = MPI_T_cvar_read(handle, &yes) == MPI_SUCCESS;
    std::snprintf(text, mpi_setting_room, "%d", yes ? 1 : 0);
  }
  MPI_T_cvar_handle_free(&handle);
  return known;
}

bool setting(const char* name, char* text) {
  int provided = 0;
  if (MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) != MPI_SUCCESS) return false;
  int index = 0;
  Variable variable;
  const bool known = MPI_T_cvar_get_index(name, &index) == MPI_SUCCESS &&
                     find_variable(index, variable) && read_variable(index, variable, text);
  MPI_T_finalize();
  return known;
}

// A label is a communicator and a tag in it, so that two labels are never taken for one.
const char* make_communicators(std::uint64_t labels) {
  auto& w = world();
  void* most_tag = nullptr;
  int known = 0;
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, static_cast<void*>(&most_tag), &known);
  // The standard's least.
  w.tags = (known == 0 ? 32767 : static_cast<std::uint64_t>(*static_cast<int*>(most_tag))) + 1;
  const auto count = (labels + w.tags - 1) / w.tags;
  if (count > most_communicators) {
    static char words[100];
    std::snprintf(words, sizeof words, "its tags end at %llu (MPI_TAG_UB), which is too few",
                  static_cast<unsigned long long>(w.tags - 1));
    return words;
  }
  for (std::uint64_t i = 0; i < count; ++i) {
    MPI_Comm made = MPI_COMM_NULL;
    if (const auto* error = in_words("MPI_Comm_dup", MPI_Comm_dup(MPI_COMM_WORLD, &made))) {
      return error;
    }
    w.communicators.push_back(made);
  }
  return nullptr;
}

const char* begin(std::uint64_t labels, int* rank, int* size) {
  // As a plain program does: with any other level Open MPI 4.1 locks in each wait, which costs a
  // small message some 50 ns. The process's other threads call nothing of MPI.
  if (const auto* error = in_words("MPI_Init", MPI_Init(nullptr, nullptr))) return error;
  int provided = 0;
  MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);             // once, for all of setting()
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);  // copies have it, too
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm_rank(MPI_COMM_WORLD, rank);
  MPI_Comm_size(MPI_COMM_WORLD, size);
  world().sent_to.resize(static_cast<std::size_t>(*size));
  return make_communicators(labels);
}

void cancel(MPI_Request& request, bool receives) {
  if (receives) MPI_Cancel(&request);
  MPI_Request_free(&request);
}

void forget() {
  auto& w = world();
  for (std::size_t i = 0; i < w.requests.size(); ++i)
    cancel(w.requests[i], w.under_way[i].receives);
  w.requests.clear();
  w.under_way.clear();
}

void end() {
  forget();
  for (auto& communicator : world().communicators) MPI_Comm_free(&communicator);
  MPI_T_finalize();
  MPI_Finalize();
}

/// How many of which type so many bytes are: MPI counts in `int`.
class Extent {
 public:
  explicit Extent(std::uint64_t bytes) : count_(static_cast<int>(bytes)) {
    if (bytes <= INT_MAX) return;
    MPI_Datatype blocks{};
    MPI_Datatype block{};
    MPI_Type_contiguous(static_cast<int>(block_bytes), MPI_BYTE, &block);
    MPI_Type_contiguous(static_cast<int>(bytes / block_bytes), block, &blocks);
    const int counts[] = {1, static_cast<int>(bytes % block_bytes)};
    const MPI_Aint places[] = {0, static_cast<MPI_Aint>(bytes / block_bytes * block_bytes)};
    const MPI_Datatype types[] = {blocks, MPI_BYTE};
    MPI_Type_create_struct(2, counts, places, types, &type_);
    MPI_Type_commit(&type_);
    MPI_Type_free(&blocks);
    MPI_Type_free(&block);
    count_ = 1;
  }
  // A message that is under way keeps it.
  ~Extent() {
    if (type_ != MPI_BYTE) MPI_Type_free(&type_);
  }
  Extent(const Extent&) = delete;
  Extent& operator=(const Extent&) = delete;

  int count() const { return count_; }
  MPI_Datatype type() const { return type_; }

 private:
  int count_;
  MPI_Datatype type_ = MPI_BYTE;
};

MpiRoute route(int peer, std::uint64_t label) {
  const auto tags = world().tags;
  return {label / tags, peer, static_cast<int>(label % tags)};
}

const char* begin_send(const MpiRoute& to, const void* from, std::uint64_t bytes,
                       MPI_Request& request, decltype(MPI_Isend)& call = MPI_Isend) {
  const Extent extent(bytes);
  return in_words("MPI_Isend", call(from, extent.count(), extent.type(), to.peer, to.tag,
                                    world().communicators[to.communicator], &request));
}

const char* begin_receive(const MpiRoute& from, void* to, std::uint64_t bytes,
                          MPI_Request& request) {
  const Extent extent(bytes);
  return in_words("MPI_Irecv", MPI_Irecv(to, extent.count(), extent.type(), from.peer, from.tag,
                                         world().communicators[from.communicator], &request));
}

MPI_Request& next_request(void* message, bool receives) {
  auto& w = world();
  w.under_way.push_back({message, receives});
  w.requests.push_back(MPI_REQUEST_NULL);
  return w.requests.back();
}

const char* send(int to, std::uint64_t label, const void* from, std::uint64_t bytes,
                 void* message) {
  auto& sent = world().sent_to[static_cast<std::size_t>(to)];
  const bool waits = ++sent % most_ahead == 0;
  return begin_send(route(to, label), from, bytes, next_request(message, false),
                    waits ? MPI_Issend : MPI_Isend);
}

const char* receive(int from, std::uint64_t label, void* to, std::uint64_t bytes, void* message) {
  return begin_receive(route(from, label), to, bytes, next_request(message, true));
}

MpiDone done_of(const UnderWay& of, const MPI_Status& status, int error) {
  MpiDone done{of.message, 0, MpiDone::none, of.receives};
  if (error != MPI_SUCCESS) {
    int kind = MPI_ERR_UNKNOWN;
    MPI_Error_class(error, &kind);
    done.error = kind == MPI_ERR_TRUNCATE ? MpiDone::truncated : MpiDone::other;
  } else if (of.receives) {
    MPI_Count bytes = 0;
    MPI_Get_elements_x(&status, MPI_BYTE, &bytes);
    done.bytes = static_cast<std::uint64_t>(bytes);
  }
  return done;
}

// To look for a message of its own, which never comes, is a step of progress.
const char* look_around() {
  int found = 0;
  return in_words("MPI_Iprobe", MPI_Iprobe(0, 0, MPI_COMM_SELF, &found, MPI_STATUS_IGNORE));
}

const char* step(const MpiDone** done, std::size_t* count) {
  auto& w = world();
  w.done.clear();
  *count = 0;
  if (w.requests.empty()) {
    return look_around();  // what MPI has taken of a send that is over may still have to leave
  }
  w.places.resize(w.requests.size());
  w.statuses.resize(w.requests.size());
  int ended = 0;
  const int error = MPI_Testsome(static_cast<int>(w.requests.size()), w.requests.data(), &ended,
                                 w.places.data(), w.statuses.data());
  if (error != MPI_SUCCESS && error != MPI_ERR_IN_STATUS) return in_words("MPI_Testsome", error);
  if (ended <= 0) return nullptr;
  // Where something had ended Open MPI looks for nothing else: whoever goes on sending what MPI
  // takes at once would never hear from its peer.
  if (const auto* why = look_around()) return why;
  for (int i = 0; i < ended; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const auto& status = w.statuses[at];
    w.done.push_back(done_of(w.under_way[static_cast<std::size_t>(w.places[at])], status,
                             error == MPI_SUCCESS ? MPI_SUCCESS : status.MPI_ERROR));
  }
  // The last ones take their places.
  w.places.resize(static_cast<std::size_t>(ended));
  std::sort(w.places.rbegin(), w.places.rend());
  for (const int place : w.places) {
    const auto at = static_cast<std::size_t>(place);
    w.requests[at] = w.requests.back();
    w.under_way[at] = w.under_way.back();
    w.requests.pop_back();
    w.under_way.pop_back();
  }
  *done = w.done.data();
  *count = w.done.size();
  return nullptr;
}

MPI_Request& new_request(MpiRequest& room, bool receives) {
  static_assert(sizeof(MPI_Request) <= sizeof room.handle);
  room.receives = receives;
  return *new (room.handle) MPI_Request(MPI_REQUEST_NULL);
}

MPI_Request* request_in(MpiRequest& room) {
  return std::launder(reinterpret_cast<MPI_Request*>(room.handle));
}

const char* post_send(const MpiRoute& to, const void* from, std::uint64_t bytes,
                      MpiRequest* request) {
  return begin_send(to, from, bytes, new_request(*request, false));
}

const char* post_receive(const MpiRoute& from, void* to, std::uint64_t bytes, MpiRequest* request) {
  return begin_receive(from, to, bytes, new_request(*request, true));
}

bool test(MpiRequest* request, MpiDone* done) {
  MPI_Status status;
  int over = 0;
  const int error = MPI_Test(request_in(*request), &over, &status);
  if (error == MPI_SUCCESS && over == 0) return false;
  *done = done_of({nullptr, request->receives}, status, error);
  return true;
}

void wait(MpiRequest* request, MpiDone* done) {
  MPI_Status status;
  const int error = MPI_Wait(request_in(*request), &status);
  *done = done_of({nullptr, request->receives}, status, error);
}

void give_up(MpiRequest* request) { cancel(*request_in(*request), request->receives); }

}  // namespace

extern "C" const MpiModule ucxbench_mpi;
const MpiModule ucxbench_mpi = {
    .bytes = sizeof(MpiModule),
    .library = library,
    .takes_gpu_memory = takes_gpu_memory,
    .setting = setting,
    .begin = begin,
    .end = end,
    .send = send,
    .receive = receive,
    .step = step,
    .forget = forget,
    .route = route,
    .post_send = post_send,
    .post_receive = post_receive,
    .test = test,
    .wait = wait,
    .give_up = give_up,
};

}  // namespace ucxbench
