// Preloaded into the ranks by the tests: from ucp_init on, the kernel ends a rank with SIGSYS that
// makes a process, however it does (fork, vfork, posix_spawn, system, or a bare system call).
// Threads may still be made. Fork after that point is not safe with InfiniBand or CUDA.

#include <dlfcn.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucp/api/ucp.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>

namespace {

sock_filter load(unsigned offset) { return BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset); }
sock_filter end(unsigned verdict) { return BPF_STMT(BPF_RET | BPF_K, verdict); }
sock_filter skip_unless_equal(unsigned value, unsigned char lines) {
  return BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, lines);
}
sock_filter skip_if_set(unsigned bits, unsigned char lines) {
  return BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, bits, lines, 0);
}

void forbid_forks() {
  std::array filter = {
      load(offsetof(seccomp_data, nr)),
#ifdef SYS_fork  // newer architectures have clone alone
      skip_unless_equal(SYS_fork, 1),
      end(SECCOMP_RET_KILL_PROCESS),
      skip_unless_equal(SYS_vfork, 1),
      end(SECCOMP_RET_KILL_PROCESS),
#endif
      // Its flags lie in memory, where a filter cannot look: without it the C library takes clone.
      skip_unless_equal(SYS_clone3, 1),
      end(SECCOMP_RET_ERRNO | ENOSYS),
      skip_unless_equal(SYS_clone, 3),
      load(offsetof(seccomp_data, args)),
      skip_if_set(CLONE_THREAD, 1),
      end(SECCOMP_RET_KILL_PROCESS),
      end(SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{filter.size(), filter.data()};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) != 0) {
    std::perror("no_fork");
    std::abort();
  }
}

}  // namespace

// What the inline ucp_init calls.
extern "C" ucs_status_t ucp_init_version(unsigned major, unsigned minor, const ucp_params_t* params,
                                         const ucp_config_t* config, ucp_context_h* context) {
  static const bool forbidden = (forbid_forks(), true);
  static_cast<void>(forbidden);
  using Function = decltype(ucp_init_version);
  static const auto real = reinterpret_cast<Function*>(dlsym(RTLD_NEXT, "ucp_init_version"));
  return real(major, minor, params, config, context);
}
