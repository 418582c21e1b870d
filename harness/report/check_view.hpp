#pragma once

#include <string>

#include "harness/result/result.hpp"

namespace ucxbench {

/// Of one of `run.check.limits`: "tcp,nvlink, cuda, NV2".
std::string limit_subject(const Json& limit);

/// The same: "2.31 GB/s, limit >= 2 (+15 %), slowest pair 0->1 [site.toml:3]".
std::string limit_in_words(const Json& limit);

/// `run.check`. Throws Failure(Exit::usage), naming `format`, for a run that is none of check.
const Json& check_of(const Result& result, const std::string& format);

}  // namespace ucxbench
