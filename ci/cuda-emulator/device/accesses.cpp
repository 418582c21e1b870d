#include "ci/cuda-emulator/device/accesses.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <sstream>

#include "ci/cuda-emulator/device/block.hpp"
#include "ci/cuda-emulator/device/guard.hpp"

// The linker's: where the section of all __shared__ variables lies, and this library's constants.
extern "C" {
extern __attribute__((visibility("hidden"))) char __start_cuda_shared[], __stop_cuda_shared[];
extern __attribute__((visibility("hidden"))) const char __ehdr_start[], _DYNAMIC[];
}

// Red zones lie between the variables too.
#if defined(__SANITIZE_ADDRESS__)
#define PAST_THE_SANITIZER __attribute__((no_sanitize("address", "undefined")))
#else
#define PAST_THE_SANITIZER
#endif

namespace emulator {
namespace {

// A block of a kernel here makes some 10^7 at most; this takes a second.
constexpr std::uint64_t MOST_USES = std::uint64_t{1} << 27U;
constexpr unsigned FOUND_SHIFT = 21;  // device memory begins at multiples of 2 MiB

std::uintptr_t number(const char* address) { return reinterpret_cast<std::uintptr_t>(address); }

bool in_shared_memory(std::uintptr_t address) {
  return address - number(__start_cuda_shared) <
         static_cast<std::size_t>(__stop_cuda_shared - __start_cuda_shared);
}

const char* in_words(Use use) {
  switch (use) {
    case Use::READ:
      return "reads";
    case Use::WRITE:
      return "writes";
    case Use::ATOMIC:
      break;
  }
  return "atomically changes";
}

}  // namespace

Accesses& accesses() {
  static auto& instance = *new Accesses;
  return instance;
}

PAST_THE_SANITIZER void Accesses::find_variables() {
  shared_.emplace(number(__start_cuda_shared), number(__stop_cuda_shared));
  char* begin = nullptr;
  for (char* at = __start_cuda_shared; at + sizeof(std::uint64_t) <= __stop_cuda_shared;
       at += sizeof(std::uint64_t)) {
    const bool guard = *reinterpret_cast<const volatile std::uint64_t*>(at) == Guard::WORD;
    if (!guard && begin == nullptr) begin = at;
    if (guard && begin != nullptr) {
      variables_.push_back({begin, at});
      begin = nullptr;
    }
  }
  if (begin != nullptr) variables_.push_back({begin, __stop_cuda_shared});
}

void Accesses::begin_launch(std::span<const Range> ranges) {
  if (!shared_) find_variables();
  block_ = &block();
  ranges_ = ranges;
  found_.fill(nullptr);
  out_of_bounds_ = false;
}

/// What a block finds in its shared memory is not what the last one left.
PAST_THE_SANITIZER void Accesses::begin_block(Random& random) {
  left_ = MOST_USES;
  const auto garbage = random.next();
  for (const auto& variable : variables_) {
    for (char* at = variable.begin; at + sizeof garbage <= variable.end; at += sizeof garbage) {
      *reinterpret_cast<volatile std::uint64_t*>(at) = garbage;
    }
  }
}

const Range* Accesses::find(std::uintptr_t address) {
  auto& found = found_[(address >> FOUND_SHIFT) % found_.size()];
  if (found != nullptr && found->begin <= address && address < found->end) return found;
  const auto after = std::upper_bound(
      ranges_.begin(), ranges_.end(), address,
      [](std::uintptr_t wanted, const Range& range) { return wanted < range.begin; });
  if (after == ranges_.begin() || address >= std::prev(after)->end) return nullptr;
  found = &*std::prev(after);
  return found;
}

void Accesses::judge(std::uintptr_t address, std::size_t bytes, Use use, const void* code) {
  const auto& block = *block_;
  if (--left_ == 0) fail(use, address, bytes, code, "over and over: it does not end");
  if (in_shared_memory(address)) return check_shared(address, bytes, use, code);
  if (const auto* range = find(address); range != nullptr && bytes <= range->end - address) {
    return check_order(*range->shadow, address, bytes, use, block.now(), code);
  }
  const bool constant = number(__ehdr_start) <= address && address + bytes <= number(_DYNAMIC);
  if (constant && use == Use::READ) return;
  out_of_bounds_ = true;
  fail(use, address, bytes, code,
       block.on_a_stack(address) ? "of another thread's own variables"
                                 : "where the kernel has no memory");
}

void Accesses::check_shared(std::uintptr_t address, std::size_t bytes, Use use, const void* code) {
  const auto inside = [&](const Part& variable) {
    return number(variable.begin) <= address && address + bytes <= number(variable.end);
  };
  if (!inside(last_)) {
    const auto found = std::find_if(variables_.begin(), variables_.end(), inside);
    if (found == variables_.end()) {
      out_of_bounds_ = true;
      fail(use, address, bytes, code, "beside the block's __shared__ variables");
    }
    last_ = *found;
  }
  auto now = block_->now();
  now.launch_begin = now.block_begin;  // for other blocks it is other memory
  if (use != Use::WRITE && !shared_->written_since(now.block_begin, address, bytes)) {
    fail(use, address, bytes, code, "of shared memory that no thread of the block has written");
  }
  check_order(*shared_, address, bytes, use, now, code);
}

void Accesses::check_order(Shadow& shadow, std::uintptr_t address, std::size_t bytes, Use use,
                           const Now& now, const void* code) {
  Race race;
  if (shadow.ordered(address, bytes, use, now, race)) return;
  const auto whose =
      race.other_block ? std::string("another block") : "thread " + std::to_string(race.thread);
  const char* did = race.earlier == Use::READ ? "read" : "wrote";
  fail(use, address, bytes, code,
       "that " + whose + " " + did + (race.earlier == Use::ATOMIC ? " atomically" : "") +
           " without a barrier in between");
}

void Accesses::read_by_all(std::uintptr_t address, std::size_t bytes) {
  shared_->read_by_all(address, bytes, block().now());
}

void Accesses::fail(Use use, std::uintptr_t address, std::size_t bytes, const void* code,
                    const std::string& what) {
  std::ostringstream text;
  text << in_words(use) << ' ' << bytes << (bytes == 1 ? " byte " : " bytes ") << what << " (";
  if (in_shared_memory(address)) {
    text << "shared memory, byte " << address - number(__start_cuda_shared);
  } else if (const auto* range = find(address); range != nullptr) {
    text << "byte " << address - range->begin << " of an allocation of "
         << range->end - range->begin;
  } else {
    text << "address 0x" << std::hex << address << std::dec;
  }
  Dl_info info{};
  if (dladdr(code, &info) != 0) {
    text << "; see: addr2line -Cife " << info.dli_fname << " 0x" << std::hex
         << reinterpret_cast<std::uintptr_t>(code) - 1 -
                reinterpret_cast<std::uintptr_t>(info.dli_fbase);
  }
  text << ')';
  block().fail(text.str());
}

}  // namespace emulator
