#include "workloads/svd/svd.hpp"

#include <fmt/format.h>

#include <cmath>

#include "harness/comm/all_to_all.hpp"
#include "harness/core/pattern.hpp"
#include "harness/run/checked_window.hpp"

namespace ucxbench::svd {
namespace {

std::vector<std::string> names_of_levels(int depth) {
  std::vector<std::string> names;
  for (int level = 1; level <= depth; ++level) names.push_back(fmt::format("level {}", level));
  return names;
}

std::vector<Phase> phases_with(const std::vector<std::string>& levels) {
  std::vector<Phase> all = {{"local QR", PhaseKind::computing}};
  for (const auto& level : levels) all.push_back({level, PhaseKind::computing});
  all.insert(all.end(), {{"SVD of R", PhaseKind::computing},
                         {"vectors", PhaseKind::computing},
                         {"shuffle", PhaseKind::waiting}});
  return all;
}

double* elements_in(Buffer& buffer) { return reinterpret_cast<double*>(buffer.data()); }

}  // namespace

Svd::Svd(Communicator& comm, const Clock& clock, WorkloadMemory& memory, const Parameters& p)
    : comm_(comm),
      clock_(clock),
      p_(p),
      tree_(Tree::of(comm.rank(), comm.size())),
      matrix_(p.rows * static_cast<std::uint64_t>(comm.size()), p.columns),
      shape_(Lapack::Shape::of(p.rows, p.columns)),
      edges_(tree_.children.size()),
      level_names_(names_of_levels(tree_.depth)),
      phases_(phases_with(level_names_)),
      clock_of_phases_(phases_) {
  const auto triangle = Factors::packed(p.columns);
  const auto square = Factors::square(p.columns);
  const auto to_parent = tree_.parent ? triangle + square : 0;
  buffers_ = memory.take({shape_.elements() * sizeof(double), shape_.elements() * sizeof(double),
                          (to_parent + edges_.size() * (triangle + square)) * sizeof(double)});
  const Factors::Place place{.shape = shape_,
                             .levels = static_cast<int>(edges_.size()),
                             .block = elements_in(buffers_[0]),
                             .vectors = elements_in(buffers_[1])};
  factors_ = on_gpu(p.kind()) ? make_cuda_factors(place, [this] { comm_.progress(); })
                              : make_host_factors(Lapack::get(), place);
  auto* next = elements_in(buffers_[2]);
  const auto cut = [&](std::uint64_t elements) {
    next += elements;
    return std::span(next - elements, elements);
  };
  if (tree_.parent) {
    triangle_ = cut(triangle);
    c_ = cut(square);
  }
  for (auto& edge : edges_) {
    edge.triangle = cut(triangle);
    edge.c = cut(square);
  }
}

void Svd::expect_children(std::uint32_t number) {
  for (std::size_t i = 0; i < edges_.size(); ++i) {
    const auto& [rank, level] = tree_.children[i];
    comm_.receive(rank, label(number, Way::up, level), std::as_writable_bytes(edges_[i].triangle),
                  edges_[i].came);
  }
}

void Svd::send_up(std::uint32_t number) {
  const auto& [rank, level] = *tree_.parent;
  comm_.receive(rank, label(number, Way::down, level), std::as_writable_bytes(c_), given_);
  comm_.send(rank, label(number, Way::up, level), std::as_bytes(triangle_), sends_);
}

void Svd::send_down(std::uint32_t number, std::size_t child) {
  const auto& [rank, level] = tree_.children[child];
  comm_.send(rank, label(number, Way::down, level), std::as_bytes(edges_[child].c), sends_);
}

ExchangeAlone Svd::exchange_alone() {
  const auto carry_out = [this](std::uint32_t number) {
    expect_children(number);
    for (const auto& edge : edges_) comm_.wait(edge.came);
    if (tree_.parent) send_up(number);
    comm_.wait(given_);
    for (auto child = edges_.size(); child-- > 0;) send_down(number, child);
    comm_.wait(sends_);
    return bytes_up() + edges_.size() * Factors::square(p_.columns) * sizeof(double);
  };
  const auto prepare = [this](std::uint32_t number) {
    alone_number_ = number;
    if (tree_.parent) {
      auto up = part_at(triangle_);
      up.fill(up.size(), seed_of(comm_.rank(), Way::up, tree_.parent->level));
    }
    for (std::size_t child = 0; child < edges_.size(); ++child) {
      auto down = part_at(edges_[child].c);
      down.fill(down.size(), seed_of(comm_.rank(), Way::down, tree_.children[child].level));
    }
  };
  return {prepare, carry_out, [this] { return wrong_in_places(); }};
}

// Of the last exchange alone.
std::uint64_t Svd::seed_of(int sender, Way way, int level) const {
  return payload_seed(sender, label(alone_number_, way, level), 0);
}

std::string Svd::wrong_in_places() {
  const auto wrong = [this](std::span<double> place, const Tree::Edge& from, Way way) {
    const auto came = part_at(place);
    return wrong_payload(came, came.size(), seed_of(from.rank, way, from.level), comm_, from.rank);
  };
  std::string error;
  if (tree_.parent) error = wrong(c_, *tree_.parent, Way::down);
  for (std::size_t child = 0; child < edges_.size() && error.empty(); ++child) {
    error = wrong(edges_[child].triangle, tree_.children[child], Way::up);
  }
  return error;
}

// What messages are of and go to.
Buffer Svd::part_at(std::span<double> place) {
  const auto first = static_cast<std::size_t>(place.data() - elements_in(buffers_[2]));
  return buffers_[2].part(first * sizeof(double), place.size_bytes());
}

void Svd::climb(std::uint32_t number) {
  enter(shuffling());
  expect_children(number);
  for (std::size_t child = 0; child < edges_.size(); ++child) {
    comm_.wait(edges_[child].came);
    if (child == 0 && comm_.rank() == 0) inject(edges_[child]);
    enter(phase_of(tree_.children[child].level));
    factors_->combine(static_cast<int>(child), edges_[child].triangle.data());
    enter(shuffling());
  }
  if (!tree_.parent) {
    enter(decomposing());
    factors_->decompose();
    return;
  }
  factors_->pack(triangle_.data());
  send_up(number);
  comm_.wait(given_);
  factors_->take(c_.data());
}

void Svd::descend(std::uint32_t number) {
  for (auto child = edges_.size(); child-- > 0;) {
    enter(phase_of(tree_.children[child].level));
    factors_->split(static_cast<int>(child), edges_[child].c.data());
    enter(shuffling());
    send_down(number, child);
  }
  enter(applying());
  factors_->apply();
  enter(shuffling());
  comm_.wait(sends_);
}

// The mistake of rank 0: the factor that came first is wrong, was lost, or is its own.
void Svd::inject(Edge& edge) {
  if (p_.injected == Injected::corrupt) corrupt(p_.kind(), edge.triangle.data());
  if (p_.injected == Injected::drop) {
    const std::vector<double> zeros(edge.triangle.size());
    copy_bytes(p_.kind(), edge.triangle.data(), zeros.data(), edge.triangle.size_bytes());
  }
  if (p_.injected == Injected::misroute) factors_->pack(edge.triangle.data());
}

Iteration Svd::run(std::uint32_t number, TransferLog* log) {
  matrix_.rotate(number);
  factors_->make(matrix_, static_cast<std::uint64_t>(comm_.rank()) * p_.rows);
  comm_.log_into(log, number);
  clock_of_phases_.start(comm_, clock_, log, number);
  factors_->factor();
  climb(number);
  descend(number);
  clock_of_phases_.stop(clock_.ticks());
  comm_.log_into(nullptr, 0);
  comm_.barrier();

  auto iteration = iteration_of(clock_of_phases_, phases_.size(), clock_);
  for (const auto& edge : edges_) {
    iteration.sent_bytes += edge.c.size_bytes();
    iteration.received_bytes += edge.triangle.size_bytes();
  }
  iteration.sent_bytes += bytes_up();
  iteration.received_bytes += bytes_down();
  return iteration;
}

// A singular vector is as good as its negative: `signs` says of which of both the closed form is.
std::string Svd::verify_root(std::vector<std::uint64_t>& signs) {
  const auto n = p_.columns;
  const auto tolerance = matrix_.tolerance(p_.rows, tree_.depth);
  const auto vector_tolerance = matrix_.vector_tolerance(p_.rows, tree_.depth);
  for (std::uint64_t j = 0; j < n; ++j) {
    const auto value = factors_->values()[j];
    const auto expected = matrix_.singular_value(j);
    if (!(std::abs(value - expected) <= tolerance)) {
      return fmt::format("singular value {} is {:.17g} instead of {:.17g}, by more than {:.1e}", j,
                         value, expected, tolerance);
    }
    const auto* right = factors_->right().data() + j;  // row j of Vᵀ
    double product = 0;
    for (std::uint64_t i = 0; i < n; ++i) product += right[i * n] * matrix_.right(i, j);
    signs[j] = product < 0 ? 1 : 0;
    double squares = 0;
    for (std::uint64_t i = 0; i < n; ++i) {
      const auto there = signs[j] != 0 ? -right[i * n] : right[i * n];
      squares += (there - matrix_.right(i, j)) * (there - matrix_.right(i, j));
    }
    if (!(std::sqrt(squares) <= vector_tolerance)) {
      return fmt::format("right singular vector {} is {:.1e} from its place, more than {:.1e}", j,
                         std::sqrt(squares), vector_tolerance);
    }
  }
  return "";
}

std::string Svd::verify_vectors(const std::vector<std::uint64_t>& signs) {
  const auto n = p_.columns;
  const auto tolerance = matrix_.vector_tolerance(p_.rows, tree_.depth);
  const auto first_row = static_cast<std::uint64_t>(comm_.rank()) * p_.rows;
  const auto* vectors = factors_->vectors();
  std::vector<double> expected(n);
  std::vector<double> squares(n);
  for (std::uint64_t i = 0; i < p_.rows; ++i) {
    matrix_.left_row(first_row + i, expected.data());
    for (std::uint64_t j = 0; j < n; ++j) {
      const auto there = vectors[j * shape_.stride + i];
      const auto off = (signs[j] != 0 ? -there : there) - expected[j];
      squares[j] += off * off;
    }
  }
  for (std::uint64_t j = 0; j < n; ++j) {
    if (std::sqrt(squares[j]) <= tolerance) continue;
    return fmt::format("left singular vector {} is {:.1e} from its place, more than {:.1e}", j,
                       std::sqrt(squares[j]), tolerance);
  }
  return "";
}

std::string Svd::verify() {
  std::vector<std::uint64_t> signs(p_.columns);
  std::string error;
  if (comm_.rank() == 0) error = verify_root(signs);
  signs = all_gather(comm_, signs).front();
  if (error.empty()) error = verify_vectors(signs);
  return error.empty() ? "" : fmt::format("rank {}: {}", comm_.rank(), error);
}

}  // namespace ucxbench::svd
