#pragma once

#include <ucp/api/ucp.h>

#include <cstddef>
#include <vector>

namespace ucxbench {

/// A buffer as UCX is given it: its bytes, or a list of its parts (an I/O vector). The list must
/// not change while a request has it.
class UcxMessage {
 public:
  /// `entries` of 0: no list. Else as many parts, which differ by a byte at most.
  void use(std::byte* buffer, std::size_t bytes, int entries) {
    data_ = buffer;
    count_ = bytes;
    parts_.clear();
    for (std::size_t begin = 0, at = 0; at < static_cast<std::size_t>(entries); ++at) {
      const auto end = bytes * (at + 1) / static_cast<std::size_t>(entries);
      parts_.push_back({.buffer = buffer + begin, .length = end - begin});
      begin = end;
    }
    if (parts_.empty()) return;
    data_ = reinterpret_cast<std::byte*>(parts_.data());
    count_ = parts_.size();
  }

  /// Another buffer as large; of one without parts.
  void move_to(std::byte* buffer) { data_ = buffer; }

  /// What UCX's functions take: where the bytes or the parts are, and how many.
  std::byte* data() const { return data_; }
  std::size_t count() const { return count_; }
  const std::vector<ucp_dt_iov_t>& parts() const { return parts_; }

  /// The datatype, and the user's memory handle unless it is null, for requests with data().
  void describe(ucp_request_param_t& params, ucp_mem_h handle) const {
    params.op_attr_mask &= ~static_cast<unsigned>(UCP_OP_ATTR_FIELD_MEMH);
    params.datatype = parts_.empty() ? ucp_dt_make_contig(1) : ucp_dt_make_iov();
    if (handle == nullptr) return;
    params.op_attr_mask |= UCP_OP_ATTR_FIELD_MEMH;
    params.memh = handle;
  }

 private:
  std::byte* data_ = nullptr;
  std::size_t count_ = 0;
  std::vector<ucp_dt_iov_t> parts_;
};

}  // namespace ucxbench
