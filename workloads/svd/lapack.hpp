#pragma once

#include <cstdint>

namespace ucxbench::svd {

/// LAPACK, found at run time as the CUDA driver is: nothing links it, so one program runs with any
/// and without, and no library starts threads beside what other benchmarks measure. Arrays are
/// column by column. Throws Failure(Exit::cannot_run), also where a call says that it failed.
class Lapack {
 public:
  /// The system's, loaded now; it computes with one thread. Throws when there is none.
  static const Lapack& get();

  /// A block of `rows` × `columns`, `stride` elements from one column to the next, is factorized
  /// in so many rows at a time and `width` columns, that what is worked on stays in a cache.
  struct Shape {
    std::uint64_t rows = 0, columns = 0, stride = 0, rows_at_once = 0, width = 0;

    static Shape of(std::uint64_t rows, std::uint64_t columns);
    std::uint64_t elements() const { return stride * columns; }
    /// Of what tall_qr leaves beside the block.
    std::uint64_t reflector_elements() const;
    std::uint64_t work_elements() const { return width * columns; }
  };

  /// QR of a tall block (dlatsqr): R is in its upper triangle then, the reflectors below and in
  /// `reflectors`. `work`: of work_elements, as below.
  void tall_qr(const Shape& shape, double* block, double* reflectors, double* work) const;
  /// Multiplies `c`, of the block's shape, by its Q from the left (dlamtsqr).
  void apply_tall_q(const Shape& shape, const double* block, const double* reflectors, double* c,
                    double* work) const;

  /// QR of two upper triangles, n × n, one above the other (dtpqrt): `upper` becomes R, `lower` and
  /// `reflectors`, of `width` × n, its Q. What is below the triangles is neither read nor written.
  void pair_qr(std::uint64_t n, std::uint64_t width, double* upper, double* lower,
               double* reflectors, double* work) const;
  /// [top; bottom], n × n each, becomes Q times it (dtpmqrt). `lower` and `reflectors` as above.
  void apply_pair_q(std::uint64_t n, std::uint64_t width, const double* lower,
                    const double* reflectors, double* top, double* bottom, double* work) const;

  /// a = u diag(s) vt (dgesvd), all n × n; `a` is lost.
  void svd(std::uint64_t n, double* a, double* s, double* u, double* vt) const;

 private:
  Lapack();

  using Int = std::int32_t;
  using Length = std::uint64_t;  // of a character argument, at the end (gfortran's)
  void (*latsqr_)(const Int*, const Int*, const Int*, const Int*, double*, const Int*, double*,
                  const Int*, double*, const Int*, Int*) = nullptr;
  void (*lamtsqr_)(const char*, const char*, const Int*, const Int*, const Int*, const Int*,
                   const Int*, const double*, const Int*, const double*, const Int*, double*,
                   const Int*, double*, const Int*, Int*, Length, Length) = nullptr;
  void (*tpqrt_)(const Int*, const Int*, const Int*, const Int*, double*, const Int*, double*,
                 const Int*, double*, const Int*, double*, Int*) = nullptr;
  void (*tpmqrt_)(const char*, const char*, const Int*, const Int*, const Int*, const Int*,
                  const Int*, const double*, const Int*, const double*, const Int*, double*,
                  const Int*, double*, const Int*, double*, Int*, Length, Length) = nullptr;
  void (*gesvd_)(const char*, const char*, const Int*, const Int*, double*, const Int*, double*,
                 double*, const Int*, double*, const Int*, double*, const Int*, Int*, Length,
                 Length) = nullptr;
};

}  // namespace ucxbench::svd
