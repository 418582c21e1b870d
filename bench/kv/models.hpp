#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace ucxbench::kv {

/// What a model keeps of each token, as published by its authors.
struct Model {
  std::string_view name;
  std::uint64_t layers;
  std::uint64_t heads;        ///< KV heads, a power of two
  std::uint64_t dimension;    ///< elements of a head, in each tensor
  std::uint64_t tensors;      ///< of a layer: keys and values, or one latent vector for both
  std::uint64_t element = 2;  ///< bytes: BF16
};

std::span<const Model> models();

/// Throws Failure(Exit::usage) for an unknown name.
const Model& model_named(std::string_view name);

}  // namespace ucxbench::kv
