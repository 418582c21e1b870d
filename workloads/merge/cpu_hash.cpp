#include "workloads/merge/cpu_hash.hpp"

#include "workloads/common/cpu.hpp"

namespace ucxbench::merge {
namespace {

[[gnu::always_inline]] inline void loop(std::span<const std::uint64_t> keys, const Spread& spread,
                                        std::uint32_t* bucket) {
  const std::uint64_t buckets = spread.buckets();
  for (std::size_t i = 0; i < keys.size(); ++i) {
    bucket[i] = static_cast<std::uint32_t>(((hash_of(keys[i]) >> 32U) * buckets) >> 32U);
  }
}

#if defined(__x86_64__)
[[gnu::target("avx512f,avx512dq,avx512vl,prefer-vector-width=512")]] void loop_avx512(
    std::span<const std::uint64_t> keys, const Spread& spread, std::uint32_t* bucket) {
  loop(keys, spread, bucket);
}
#endif

}  // namespace

void find_buckets(std::span<const std::uint64_t> keys, const Spread& spread,
                  std::uint32_t* bucket) {
#if defined(__x86_64__)
  static const bool fast = has_avx512();
  if (fast) return loop_avx512(keys, spread, bucket);
#endif
  loop(keys, spread, bucket);
}

}  // namespace ucxbench::merge
