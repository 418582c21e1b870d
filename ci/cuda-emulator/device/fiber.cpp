#include "ci/cuda-emulator/device/fiber.hpp"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

// Changes to another stack. Own instructions, since swapcontext() asks the kernel for the signal
// mask each time: 250 ns, a hundred times what this takes.
asm(R"(.pushsection .text
.p2align 4
.type emulator_change_stack, @function
emulator_change_stack:
  push %rbp
  push %rbx
  push %r12
  push %r13
  push %r14
  push %r15
  mov %rsp, (%rdi)
  mov %rsi, %rsp
  pop %r15
  pop %r14
  pop %r13
  pop %r12
  pop %rbx
  pop %rbp
  ret
.size emulator_change_stack, . - emulator_change_stack
.popsection
)");
extern "C" __attribute__((visibility("hidden"))) void emulator_change_stack(void** from, void* to);

namespace emulator {
namespace {

// What the body's first instruction finds.
constexpr std::size_t SAVED_REGISTERS = 6;

Fiber* running = nullptr;

}  // namespace

Stacks::Stacks(std::size_t count) : begin(nullptr), bytes(count * Fiber::STACK_BYTES) {
  // Past the C library, since UCX follows its mmap.
  const long memory = syscall(SYS_mmap, nullptr, bytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0L);
  if (memory == -1) std::abort();
  begin = reinterpret_cast<char*>(memory);
}

void Fiber::start(void (*body)()) {
  body_ = body;
  auto* top = reinterpret_cast<void**>(stack_ + STACK_BYTES);
  *--top = nullptr;  // nowhere to return to; and the stack is aligned as behind a call
  *--top = reinterpret_cast<void*>(enter);
  position_ = top - SAVED_REGISTERS;
  fake_stack_ = nullptr;
}

void Fiber::enter() {
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(nullptr, &running->scheduler_stack_, &running->scheduler_bytes_);
#endif
  running->body_();
  std::abort();
}

void Fiber::resume() {
  running = this;
#if defined(__SANITIZE_ADDRESS__)
  void* own = nullptr;
  __sanitizer_start_switch_fiber(&own, stack_, STACK_BYTES);
#endif
  emulator_change_stack(&scheduler_, position_);
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(own, nullptr, nullptr);
#endif
}

void Fiber::leave([[maybe_unused]] bool for_good) {
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_start_switch_fiber(for_good ? nullptr : &fake_stack_, scheduler_stack_,
                                 scheduler_bytes_);
#endif
  emulator_change_stack(&position_, scheduler_);
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(fake_stack_, &scheduler_stack_, &scheduler_bytes_);
#endif
}

void Fiber::leave() {
  leave(true);
  std::abort();
}

}  // namespace emulator
