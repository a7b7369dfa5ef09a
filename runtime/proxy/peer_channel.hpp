// Messages between the proxies of different ranks, on a communicator of their own: small, rare, and
// nonblocking throughout.
//
// Invariant: once close() returns no message is under way. Each is sent in synchronous mode, so a
// completed send has been received; the ranks first agree that nobody asks any more, then complete
// their sends, then agree on that (nonblocking consensus: Hoefler, Siebert, Lumsdaine, PPoPP 2010).
#pragma once

#include "deadlock_detector.hpp"

#include <mpi.h>

#include <list>
#include <vector>

namespace gmpi {

class PeerChannel {
public:
  /// Collective over MPI_COMM_WORLD.
  PeerChannel();
  PeerChannel(const PeerChannel &) = delete;

  int rank() const { return rank_; }
  /// Drops the message where two to the same rank have not been received yet: it is behind.
  void send(int to, const PeerMessage &message);
  /// The next message that has arrived. Looks for one each time it is called.
  bool receive(int &from, PeerMessage &message);

  /// MPI_Finalize: waits until each rank has called it. The proxy's thread goes on answering.
  void wait_for_all_ranks();
  /// Afterwards, on one thread: completes what is under way. Collective.
  void close();

private:
  struct Outgoing {
    int to;
    std::vector<unsigned char> bytes;
    MPI_Request request;
  };
  void complete_sends();

  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0;
  std::list<Outgoing> outgoing_;
  std::vector<unsigned char> arriving_;
  MPI_Request arrival_ = MPI_REQUEST_NULL;
};

} // namespace gmpi
