// The factors on a GPU, by cuSOLVER. Only the block is tall: all else is columns × columns, and
// never leaves the GPU but for messages.

#include <limits>
#include <utility>

#include "workloads/svd/cusolver.hpp"
#include "workloads/svd/factors.hpp"

namespace ucxbench::svd {
namespace {

class CudaFactors : public Factors {
 public:
  CudaFactors(const Place& place, std::function<void()> progress)
      : shape_(place.shape),
        n_(shape_.columns),
        block_(place.block),
        vectors_(place.vectors),
        solver_(shape_.rows, n_, shape_.stride, std::move(progress)),
        own_(packed(n_)),
        upper_(square(n_)),
        c_(square(n_)),
        vt_(square(n_)),
        s_(n_),
        tau_(n_),
        pair_(2 * square(n_)),
        values_(n_),
        right_(square(n_)) {
    for (int level = 0; level < place.levels; ++level) levels_.emplace_back(n_);
  }

  // The rows are the same in every run, so they are made once.
  void make(Matrix& matrix, std::uint64_t first_row) override {
    if (made_.empty()) {
      made_.resize(shape_.elements());
      fill_block(matrix, first_row, shape_, made_.data());
    }
    copy_bytes(MemoryKind::cuda, block_, made_.data(), made_.size() * sizeof(double));
  }

  void factor() override {
    solver_.qr(tall(), block_, tau_.data());
    solver_.pack(n_, block_, shape_.stride, own_.data());
    solver_.finish();
  }

  void pack(double* triangle) override {
    copy_bytes(MemoryKind::cuda, triangle, own_.data(), packed(n_) * sizeof(double));
  }

  // cuSOLVER has no QR of two triangles: they are factorized as any array of 2n × n.
  void combine(int level, const double* triangle) override {
    auto& [both, tau] = levels_.at(static_cast<std::size_t>(level));
    solver_.zero(pair(), both.data());
    solver_.unpack(n_, own_.data(), both.data(), 2 * n_);
    solver_.unpack(n_, triangle, both.data() + n_, 2 * n_);
    solver_.qr(pair(), both.data(), tau.data());
    solver_.pack(n_, both.data(), 2 * n_, own_.data());
    solver_.finish();
  }

  void decompose() override {
    std::vector<double> r(packed(n_));
    read(own_, r);
    // It may not end with what is no number.
    if (!all_finite(r)) {
      for (auto* result : {&values_, &right_}) {
        result->assign(result->size(), std::numeric_limits<double>::quiet_NaN());
      }
      copy_bytes(MemoryKind::cuda, c_.data(), right_.data(), right_.size() * sizeof(double));
      return;
    }
    solver_.zero({n_, n_, n_}, upper_.data());
    solver_.unpack(n_, own_.data(), upper_.data(), n_);
    solver_.svd(n_, upper_.data(), s_.data(), c_.data(), vt_.data());
    read(s_, values_);
    read(vt_, right_);
  }

  void take(const double* c) override {
    copy_bytes(MemoryKind::cuda, c_.data(), c, square(n_) * sizeof(double));
  }

  void split(int level, double* theirs) override {
    auto& [both, tau] = levels_.at(static_cast<std::size_t>(level));
    solver_.zero(pair(), pair_.data());
    solver_.copy_square(n_, c_.data(), n_, pair_.data(), 2 * n_);
    solver_.apply_q(pair(), both.data(), tau.data(), pair_.data());
    solver_.copy_square(n_, pair_.data(), 2 * n_, c_.data(), n_);
    solver_.copy_square(n_, pair_.data() + n_, 2 * n_, theirs, n_);
    solver_.finish();
  }

  void apply() override {
    solver_.zero(tall(), vectors_);
    solver_.copy_square(n_, c_.data(), n_, vectors_, shape_.stride);
    solver_.apply_q(tall(), block_, tau_.data(), vectors_);
    solver_.finish();
  }

  const std::vector<double>& values() const override { return values_; }
  const std::vector<double>& right() const override { return right_; }
  const double* vectors() override {
    read_.resize(shape_.elements());
    copy_bytes(MemoryKind::cuda, read_.data(), vectors_, read_.size() * sizeof(double));
    return read_.data();
  }

 private:
  /// Numbers in the GPU's memory.
  class Numbers {
   public:
    explicit Numbers(std::uint64_t count) : buffer_(MemoryKind::cuda, count * sizeof(double)) {}
    double* data() { return reinterpret_cast<double*>(buffer_.data()); }

   private:
    Buffer buffer_;
  };

  struct Level {
    explicit Level(std::uint64_t n) : both(2 * square(n)), tau(n) {}
    Numbers both, tau;
  };

  static void read(Numbers& from, std::vector<double>& to) {
    copy_bytes(MemoryKind::cuda, to.data(), from.data(), to.size() * sizeof(double));
  }
  CudaSolver::Tall tall() const { return {shape_.rows, n_, shape_.stride}; }
  CudaSolver::Tall pair() const { return {2 * n_, n_, 2 * n_}; }

  Lapack::Shape shape_;
  std::uint64_t n_;
  double *block_, *vectors_;
  CudaSolver solver_;
  Numbers own_;  ///< R, packed
  Numbers upper_, c_, vt_, s_, tau_, pair_;
  std::vector<Level> levels_;
  std::vector<double> values_, right_, made_, read_;
};

}  // namespace

std::unique_ptr<Factors> make_cuda_factors(const Factors::Place& place,
                                           std::function<void()> progress) {
  return std::make_unique<CudaFactors>(place, std::move(progress));
}

}  // namespace ucxbench::svd
