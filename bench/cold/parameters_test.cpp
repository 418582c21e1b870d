#include "bench/cold/parameters.hpp"

#include <gtest/gtest.h>

#include "harness/core/failure.hpp"

namespace ucxbench::cold {
namespace {

TEST(ColdParameters, AKeyNamesWhatDistinguishesACase) {
  Parameters p;
  p.bytes = 1 << 20;
  p.peers = 2;
  p.memory = {"cuda", "host"};
  p.transports = {"tcp", "nvlink"};
  EXPECT_EQ(case_key(p), "cold/tag/cuda-host/tcp+nvlink/1MiB/peers=2/buffers=pool");
  p.buffers = Buffers::fresh;
  EXPECT_EQ(case_key(p), "cold/tag/cuda-host/tcp+nvlink/1MiB/peers=2/buffers=fresh");
}

TEST(ColdParameters, ComeBackFromJson) {
  Parameters p;
  p.bytes = 12345;
  p.peers = 3;
  p.buffers = Buffers::own;
  p.memory = {"cuda", "managed"};
  p.pool_bytes = 1 << 30;
  p.devices = {1, 0};
  p.transports = {"shm"};
  p.net_devices = "lo";
  p.ranks = 4;
  p.iterations = 7;
  EXPECT_EQ(to_json(parse_parameters(to_json(p))), to_json(p));
}

TEST(ColdParameters, AnUnknownKindOfBuffersIsRefused) {
  EXPECT_THROW(parse_buffers("pol"), Failure);
}

}  // namespace
}  // namespace ucxbench::cold
