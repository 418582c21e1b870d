// The factors on the host, by LAPACK.

#include <algorithm>
#include <cmath>
#include <limits>

#include "workloads/svd/factors.hpp"

namespace ucxbench::svd {
namespace {

class HostFactors : public Factors {
 public:
  HostFactors(const Lapack& lapack, const Place& place);

  void make(Matrix& matrix, std::uint64_t first_row) override {
    fill_block(matrix, first_row, shape_, block_);
  }
  void factor() override;
  void pack(double* triangle) override;
  void combine(int level, const double* triangle) override;
  void decompose() override;
  void take(const double* c) override { std::copy(c, c + c_.size(), c_.data()); }
  void split(int level, double* theirs) override;
  void apply() override;

  const std::vector<double>& values() const override { return values_; }
  const std::vector<double>& right() const override { return right_; }
  const double* vectors() override { return vectors_; }

 private:
  struct Level {
    std::vector<double> lower, reflectors;
  };

  const Lapack& lapack_;
  Lapack::Shape shape_;
  double *block_, *vectors_;
  std::vector<double> reflectors_, work_, upper_, c_, values_, right_;
  std::vector<Level> levels_;
};

HostFactors::HostFactors(const Lapack& lapack, const Place& place)
    : lapack_(lapack),
      shape_(place.shape),
      block_(place.block),
      vectors_(place.vectors),
      reflectors_(shape_.reflector_elements()),
      work_(shape_.work_elements()),
      upper_(square(shape_.columns)),
      c_(square(shape_.columns)),
      values_(shape_.columns),
      right_(square(shape_.columns)),
      levels_(static_cast<std::size_t>(place.levels),
              {std::vector<double>(square(shape_.columns)), std::vector<double>(work_.size())}) {}

void HostFactors::factor() {
  lapack_.tall_qr(shape_, block_, reflectors_.data(), work_.data());
  const auto n = shape_.columns;
  std::ranges::fill(upper_, 0);
  for (std::uint64_t j = 0; j < n; ++j) {
    const auto* column = block_ + j * shape_.stride;
    std::copy(column, column + j + 1, upper_.data() + j * n);
  }
}

void HostFactors::pack(double* triangle) {
  for (std::uint64_t j = 0; j < shape_.columns; ++j) {
    const auto* column = upper_.data() + j * shape_.columns;
    triangle = std::copy(column, column + j + 1, triangle);
  }
}

void HostFactors::combine(int level, const double* triangle) {
  auto& [lower, reflectors] = levels_.at(static_cast<std::size_t>(level));
  const auto n = shape_.columns;
  for (std::uint64_t j = 0; j < n; ++j) {
    std::copy(triangle, triangle + j + 1, lower.data() + j * n);
    triangle += j + 1;
  }
  lapack_.pair_qr(n, shape_.width, upper_.data(), lower.data(), reflectors.data(), work_.data());
}

void HostFactors::decompose() {
  // LAPACK may not end with what is no number.
  if (!all_finite(upper_)) {
    for (auto* result : {&values_, &c_, &right_}) {
      std::ranges::fill(*result, std::numeric_limits<double>::quiet_NaN());
    }
    return;
  }
  lapack_.svd(shape_.columns, upper_.data(), values_.data(), c_.data(), right_.data());
}

void HostFactors::split(int level, double* theirs) {
  const auto& [lower, reflectors] = levels_.at(static_cast<std::size_t>(level));
  std::fill(theirs, theirs + c_.size(), 0);
  lapack_.apply_pair_q(shape_.columns, shape_.width, lower.data(), reflectors.data(), c_.data(),
                       theirs, work_.data());
}

void HostFactors::apply() {
  const auto n = shape_.columns;
  for (std::uint64_t j = 0; j < n; ++j) {
    auto* column = vectors_ + j * shape_.stride;
    std::copy(c_.data() + j * n, c_.data() + (j + 1) * n, column);
    std::fill(column + n, column + shape_.rows, 0);
  }
  lapack_.apply_tall_q(shape_, block_, reflectors_.data(), vectors_, work_.data());
}

}  // namespace

std::unique_ptr<Factors> make_host_factors(const Lapack& lapack, const Factors::Place& place) {
  return std::make_unique<HostFactors>(lapack, place);
}

}  // namespace ucxbench::svd
