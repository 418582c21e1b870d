#include "bench/pingpong/loops_over.hpp"
#include "bench/pingpong/pair_device.hpp"
#include "harness/comm/device.hpp"
#include "harness/comm/mpi_library.hpp"
#include "harness/comm/mpi_link.hpp"

namespace ucxbench::pingpong {
namespace {

/// A label among MPI's processes.
class MpiPair final : public PairDevice {
 public:
  // Its calls wait for the other ranks by themselves.
  MpiPair() : process_(mpi_process()) {}

  std::unique_ptr<Loops> connect(Pair& pair, const Clock& clock, const std::string&) override {
    process_.check(pair.rendezvous().rank(), pair.rendezvous().size());
    static std::uint64_t connections = 0;  // of this process; the peer has as many
    return std::make_unique<LoopsOver<MpiLink>>(pair.role(), clock, mpi_module(), pair.peer(),
                                                connections++ % label_count);
  }

  std::vector<std::string> lanes() const override { return process_.lanes; }
  const std::map<std::string, std::string>& effective() const override {
    return process_.effective;
  }

 private:
  const MpiProcess& process_;
};

}  // namespace

std::unique_ptr<PairDevice> make_mpi_pair() { return std::make_unique<MpiPair>(); }

}  // namespace ucxbench::pingpong
