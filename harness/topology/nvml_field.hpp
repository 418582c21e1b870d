#pragma once

namespace ucxbench {

/// nvmlFieldValue_t of nvml.h (NVML API reference), for nvmlDeviceGetFieldValues.
struct NvmlField {
  unsigned field;
  unsigned scope;  ///< a link's number, or ~0 for all
  long long timestamp;
  long long latency_us;
  int value_type;
  int result;  ///< 0: there is a value
  union {
    unsigned long long value;
    double number;
  };
};
static_assert(sizeof(NvmlField) == 40);

}  // namespace ucxbench
