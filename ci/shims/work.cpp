// Preloaded into the ranks by the study of verdicts: plants a loss of fixed work, which is as long
// for a message of 100 ns as for one of 100 µs, and costs no call of a clock. WORK is "bytes=before
// a message/in a stream,…", both in multiplications of which each needs the one before. Rank 0 does
// the first before each message that it sends in turn with one that it receives, so that a round
// trip is longer by that. In a stream, where a rank only sends or only receives, each rank does the
// second for each message, because nobody knows which of them the stream waits for. The other side
// of a comparison has "bytes=0/0": the fences cost both sides the same.

#include <dlfcn.h>
#include <ucp/api/ucp.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "shim.hpp"

namespace {

struct Work {
  std::size_t bytes;
  std::uint64_t in_turn, in_stream;
};

struct Table {
  static constexpr std::size_t most = 16;
  Work works[most] = {};
  std::size_t count = 0;
  bool first_rank = false;

  Table() {
    const char* rank = std::getenv("UCXBENCH_INTERNAL_RANK");
    const char* text = std::getenv("WORK");
    if (rank == nullptr || text == nullptr) return;
    first_rank = std::strcmp(rank, "0") == 0;
    char* end = nullptr;
    for (; *text != '\0' && count < most; text = *end == ',' ? end + 1 : end) {
      auto& work = works[count++];
      work.bytes = std::strtoull(text, &end, 10);
      work.in_turn = *end == '=' ? std::strtoull(end + 1, &end, 10) : 0;
      work.in_stream = *end == '/' ? std::strtoull(end + 1, &end, 10) : 0;
      if (*end != ',' && *end != '\0') std::abort();
    }
  }

  const Work* of(std::size_t bytes) const {
    for (std::size_t at = 0; at < count; ++at) {
      if (works[at].bytes == bytes) return &works[at];
    }
    return nullptr;
  }
};

void fence() {
#if defined(__x86_64__)
  __asm__ volatile("lfence" ::: "memory");
#else
  __asm__ volatile("isb" ::: "memory");
#endif
}

enum class Call : std::uint8_t { none, send, receive };
Call last = Call::none;

void work(std::uint64_t multiplications) {
  fence();
  std::uint64_t value = 3;
  std::uint64_t factor = 5;
  __asm__ volatile("" : "+r"(factor));  // unknown to the compiler, else it adds and shifts
  for (std::uint64_t done = 0; done < multiplications; ++done) {
    value *= factor;
    __asm__ volatile("" : "+r"(value));
  }
  fence();
}

void work_for(Call call, std::size_t bytes) {
  static const Table table;
  const auto* wanted = table.of(bytes);
  if (wanted == nullptr) return;
  const bool in_stream = call == last;
  last = call;
  if (in_stream) {
    work(wanted->in_stream);
  } else if (call == Call::send && table.first_rank) {
    work(wanted->in_turn);
  }
}

}  // namespace

extern "C" {

// For the study: how long the same work takes, so many times.
void fixed_work(std::uint64_t multiplications, std::uint64_t times) {
  for (std::uint64_t done = 0; done < times; ++done) work(multiplications);
}

ucs_status_ptr_t ucp_tag_send_nbx(ucp_ep_h endpoint, const void* buffer, size_t count,
                                  ucp_tag_t tag, const ucp_request_param_t* parameters) {
  static const auto real = next<decltype(ucp_tag_send_nbx)>("ucp_tag_send_nbx");
  work_for(Call::send, count);
  return real(endpoint, buffer, count, tag, parameters);
}

ucs_status_ptr_t ucp_tag_recv_nbx(ucp_worker_h worker, void* buffer, size_t count, ucp_tag_t tag,
                                  ucp_tag_t mask, const ucp_request_param_t* parameters) {
  static const auto real = next<decltype(ucp_tag_recv_nbx)>("ucp_tag_recv_nbx");
  work_for(Call::receive, count);
  return real(worker, buffer, count, tag, mask, parameters);
}

}  // extern "C"
