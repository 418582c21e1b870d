#include "bench/cold/parameters.hpp"

#include <gtest/gtest.h>

#include "harness/core/failure.hpp"

namespace ucxbench::cold {
namespace {

TEST(ColdParameters, AnUnknownKindOfBuffersIsRefused) {
  EXPECT_THROW(parse_buffers("pol"), Failure);
}

}  // namespace
}  // namespace ucxbench::cold
