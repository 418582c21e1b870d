#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace ucxbench::kv {

/// What a model keeps of each token, as its authors have published it.
struct Model {
  std::string_view name;
  std::uint64_t layers;
  std::uint64_t heads;        ///< that have keys and values of their own, a power of two
  std::uint64_t dimension;    ///< elements of a head, in each tensor
  std::uint64_t tensors;      ///< of a layer: keys and values, or one that both follow from
  std::uint64_t element = 2;  ///< bytes: BF16
};

std::span<const Model> models();

/// Throws Failure(Exit::usage) for a name that is none's.
const Model& model_named(std::string_view name);

}  // namespace ucxbench::kv
