#include "workloads/svd/factors.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ucxbench::svd {

Factors::Factors(const Lapack& lapack, const Lapack::Shape& shape, int levels, double* block,
                 double* vectors)
    : lapack_(lapack),
      shape_(shape),
      block_(block),
      vectors_(vectors),
      reflectors_(shape.reflector_elements()),
      work_(shape.work_elements()),
      upper_(square(shape.columns)),
      c_(square(shape.columns)),
      values_(shape.columns),
      right_(square(shape.columns)),
      levels_(static_cast<std::size_t>(levels),
              {std::vector<double>(square(shape.columns)), std::vector<double>(work_.size())}) {}

void Factors::make(Matrix& matrix, std::uint64_t first_row) {
  constexpr std::uint64_t at_once = 8;  // a cache line of each column
  std::vector<double> rows(at_once * shape_.columns);
  for (std::uint64_t first = 0; first < shape_.rows; first += at_once) {
    const auto count = std::min(at_once, shape_.rows - first);
    for (std::uint64_t i = 0; i < count; ++i) {
      matrix.row(first_row + first + i, rows.data() + i * shape_.columns);
    }
    for (std::uint64_t j = 0; j < shape_.columns; ++j) {
      auto* column = block_ + j * shape_.stride + first;
      for (std::uint64_t i = 0; i < count; ++i) column[i] = rows[i * shape_.columns + j];
    }
  }
}

void Factors::factor() {
  lapack_.tall_qr(shape_, block_, reflectors_.data(), work_.data());
  const auto n = shape_.columns;
  std::ranges::fill(upper_, 0);
  for (std::uint64_t j = 0; j < n; ++j) {
    const auto* column = block_ + j * shape_.stride;
    std::copy(column, column + j + 1, upper_.data() + j * n);
  }
}

void Factors::pack(double* triangle) const {
  for (std::uint64_t j = 0; j < shape_.columns; ++j) {
    const auto* column = upper_.data() + j * shape_.columns;
    triangle = std::copy(column, column + j + 1, triangle);
  }
}

void Factors::combine(int level, const double* triangle) {
  auto& [lower, reflectors] = levels_.at(static_cast<std::size_t>(level));
  const auto n = shape_.columns;
  for (std::uint64_t j = 0; j < n; ++j) {
    std::copy(triangle, triangle + j + 1, lower.data() + j * n);
    triangle += j + 1;
  }
  lapack_.pair_qr(n, shape_.width, upper_.data(), lower.data(), reflectors.data(), work_.data());
}

void Factors::decompose() {
  // LAPACK may not end with what is no number.
  const auto finite = [](double value) { return std::isfinite(value); };
  if (!std::ranges::all_of(upper_, finite)) {
    for (auto* result : {&values_, &c_, &right_}) {
      std::ranges::fill(*result, std::numeric_limits<double>::quiet_NaN());
    }
    return;
  }
  lapack_.svd(shape_.columns, upper_.data(), values_.data(), c_.data(), right_.data());
}

void Factors::take(const double* c) { std::copy(c, c + c_.size(), c_.data()); }

void Factors::split(int level, double* theirs) {
  const auto& [lower, reflectors] = levels_.at(static_cast<std::size_t>(level));
  std::fill(theirs, theirs + c_.size(), 0);
  lapack_.apply_pair_q(shape_.columns, shape_.width, lower.data(), reflectors.data(), c_.data(),
                       theirs, work_.data());
}

void Factors::apply() {
  const auto n = shape_.columns;
  for (std::uint64_t j = 0; j < n; ++j) {
    auto* column = vectors_ + j * shape_.stride;
    std::copy(c_.data() + j * n, c_.data() + (j + 1) * n, column);
    std::fill(column + n, column + shape_.rows, 0);
  }
  lapack_.apply_tall_q(shape_, block_, reflectors_.data(), vectors_, work_.data());
}

}  // namespace ucxbench::svd
