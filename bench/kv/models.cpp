#include "bench/kv/models.hpp"

#include <algorithm>
#include <array>

#include "harness/core/names.hpp"

namespace ucxbench::kv {
namespace {

constexpr std::array<Model, 8> published = {{
    // DeepSeek-AI, "DeepSeek-V3 Technical Report" (arXiv 2412.19437), section 4.2: a latent vector
    // of 512 and a rotated key of 64 elements for each token, of all heads together.
    {.name = "deepseek-v3", .layers = 61, .heads = 1, .dimension = 576, .tensors = 1},
    // Llama Team, "The Llama 3 Herd of Models" (arXiv 2407.21783), table 3.
    {.name = "llama3-8b", .layers = 32, .heads = 8, .dimension = 128, .tensors = 2},
    {.name = "llama3-70b", .layers = 80, .heads = 8, .dimension = 128, .tensors = 2},
    {.name = "llama3-405b", .layers = 126, .heads = 8, .dimension = 128, .tensors = 2},
    // Jiang et al., "Mistral 7B" (arXiv 2310.06825), table 1.
    {.name = "mistral-7b", .layers = 32, .heads = 8, .dimension = 128, .tensors = 2},
    // Jiang et al., "Mixtral of Experts" (arXiv 2401.04088), table 1.
    {.name = "mixtral-8x7b", .layers = 32, .heads = 8, .dimension = 128, .tensors = 2},
    // Qwen Team, "Qwen2.5 Technical Report" (arXiv 2412.15115), table 1, and the dimension of
    // "Qwen2 Technical Report" (arXiv 2407.10671), table 1.
    {.name = "qwen2.5-72b", .layers = 80, .heads = 8, .dimension = 128, .tensors = 2},
    // Qwen Team, "Qwen3 Technical Report" (arXiv 2505.09388), table 2, and the dimension of its
    // published config.json.
    {.name = "qwen3-235b", .layers = 94, .heads = 4, .dimension = 128, .tensors = 2},
}};

}  // namespace

std::span<const Model> models() { return published; }

const Model& model_named(std::string_view name) {
  const auto found = std::ranges::find(published, name, &Model::name);
  if (found != published.end()) return *found;
  throw Failure(Exit::usage, "--model: " + unknown_name("model", name, names_in(published)));
}

}  // namespace ucxbench::kv
