// Compiled where there is a CUDA toolkit: what workloads/svd declares of cuSOLVER and cuBLAS must
// be what their headers declare.

#include <cublas_v2.h>
#include <cusolverDn.h>

#include <type_traits>

#include "workloads/svd/cusolver_api.hpp"

namespace {

namespace api = ucxbench::svd::cusolver;

/// How a type is passed: an enumeration as int, what an opaque address leads to as void.
template <typename Type>
struct Passed {
  using type = Type;
};
template <typename Type>
  requires std::is_enum_v<Type>
struct Passed<Type> {
  using type = int;
};
template <typename Type>
  requires std::is_class_v<Type>
struct Passed<Type*> {
  using type = void*;
};
template <typename Type>
  requires std::is_class_v<Type>
struct Passed<Type**> {
  using type = void**;
};
template <typename Result, typename... Types>
struct Passed<Result(Types...)> {
  using type = typename Passed<Result>::type(typename Passed<Types>::type...);
};

template <typename Ours, typename Theirs>
constexpr bool same = std::is_same_v<Ours, typename Passed<Theirs>::type>;

}  // namespace

#define SAME(ours, theirs) static_assert(same<api::ours, decltype(theirs)>)

SAME(Create, cusolverDnCreate);
SAME(Create, cublasCreate_v2);
SAME(Destroy, cusolverDnDestroy);
SAME(Destroy, cublasDestroy_v2);
SAME(SetStream, cusolverDnSetStream);
SAME(SetStream, cublasSetStream_v2);
SAME(GeqrfSize, cusolverDnDgeqrf_bufferSize);
SAME(Geqrf, cusolverDnDgeqrf);
SAME(OrmqrSize, cusolverDnDormqr_bufferSize);
SAME(Ormqr, cusolverDnDormqr);
SAME(GesvdSize, cusolverDnDgesvd_bufferSize);
SAME(Gesvd, cusolverDnDgesvd);
SAME(Geam, cublasDgeam);
SAME(Tpttr, cublasDtpttr);
SAME(Trttp, cublasDtrttp);

static_assert(api::side_left == CUBLAS_SIDE_LEFT);
static_assert(api::as_it_is == CUBLAS_OP_N);
static_assert(api::fill_upper == CUBLAS_FILL_MODE_UPPER);
static_assert(CUSOLVER_STATUS_SUCCESS == 0 && CUBLAS_STATUS_SUCCESS == 0);
