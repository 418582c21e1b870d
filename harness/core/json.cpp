#include "harness/core/json.hpp"

template class nlohmann::basic_json<ucxbench::Members>;
