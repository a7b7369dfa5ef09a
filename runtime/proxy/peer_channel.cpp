// Messages between proxies.
#include "peer_channel.hpp"

#include "backoff.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace gmpi {

namespace {

/// What stands before the text. Padding is sent as zeros.
struct Header {
  std::int32_t kind, initiator, hops;
  std::uint8_t uncertain, chase, collective, sends;
  std::uint64_t round, fingerprint;
};
static_assert(std::is_trivially_copyable_v<Header> && sizeof(Header) == 32);

std::vector<unsigned char> pack(const PeerMessage &message) {
  Header header{message.kind,      message.initiator, message.hops,
                message.uncertain, message.chase,     message.collective,
                message.sends,     message.round,     message.fingerprint};
  std::vector<unsigned char> bytes(sizeof(header) + message.text.size());
  std::memcpy(bytes.data(), &header, sizeof(header));
  std::memcpy(bytes.data() + sizeof(header), message.text.data(), message.text.size());
  return bytes;
}

PeerMessage unpack(const std::vector<unsigned char> &bytes) {
  Header header;
  std::memcpy(&header, bytes.data(), sizeof(header));
  PeerMessage message;
  message.kind = static_cast<PeerMessage::Kind>(header.kind);
  message.initiator = header.initiator;
  message.hops = header.hops;
  message.uncertain = header.uncertain;
  message.chase = header.chase;
  message.collective = header.collective;
  message.sends = header.sends;
  message.round = header.round;
  message.fingerprint = header.fingerprint;
  message.text.assign(bytes.begin() + sizeof(header), bytes.end());
  return message;
}

/// Waits without blocking in MPI: other threads of this process need it to progress.
template <class Turn> void wait_for(MPI_Request request, Turn turn) {
  Backoff backoff;
  for (int done = 0; !done; backoff.wait()) {
    turn();
    if (PMPI_Test(&request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS)
      return;
  }
}

} // namespace

PeerChannel::PeerChannel() {
  PMPI_Comm_dup(MPI_COMM_WORLD, &comm_);
  PMPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
  PMPI_Comm_rank(comm_, &rank_);
}

void PeerChannel::complete_sends() {
  outgoing_.remove_if([](Outgoing &message) {
    int done = 0;
    return PMPI_Test(&message.request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS || done;
  });
}

void PeerChannel::send(int to, const PeerMessage &message) {
  complete_sends();
  if (std::count_if(outgoing_.begin(), outgoing_.end(),
                    [to](const Outgoing &other) { return other.to == to; }) >= 2)
    return;
  Outgoing &sent = outgoing_.emplace_back(Outgoing{to, pack(message), MPI_REQUEST_NULL});
  PMPI_Issend(sent.bytes.data(), static_cast<int>(sent.bytes.size()), MPI_BYTE, to, 0, comm_,
              &sent.request);
}

bool PeerChannel::receive(int &from, PeerMessage &message) {
  if (!outgoing_.empty())
    complete_sends();
  if (arrival_ == MPI_REQUEST_NULL) {
    int there = 0, bytes = 0;
    MPI_Status status;
    if (PMPI_Iprobe(MPI_ANY_SOURCE, 0, comm_, &there, &status) != MPI_SUCCESS || !there)
      return false;
    PMPI_Get_count(&status, MPI_BYTE, &bytes);
    arriving_.resize(static_cast<std::size_t>(bytes));
    PMPI_Irecv(arriving_.data(), bytes, MPI_BYTE, status.MPI_SOURCE, 0, comm_, &arrival_);
  }
  int done = 0;
  MPI_Status status;
  if (PMPI_Test(&arrival_, &done, &status) != MPI_SUCCESS || !done)
    return false;
  if (arriving_.size() < sizeof(Header))
    return false;
  from = status.MPI_SOURCE;
  message = unpack(arriving_);
  return true;
}

void PeerChannel::wait_for_all_ranks() {
  MPI_Request barrier = MPI_REQUEST_NULL;
  if (PMPI_Ibarrier(comm_, &barrier) == MPI_SUCCESS)
    wait_for(barrier, [] {});
}

void PeerChannel::close() {
  int from = 0;
  PeerMessage message;
  Backoff backoff;
  for (; !outgoing_.empty(); backoff.wait())
    receive(from, message);
  MPI_Request barrier = MPI_REQUEST_NULL;
  if (PMPI_Ibarrier(comm_, &barrier) == MPI_SUCCESS)
    wait_for(barrier, [&] { receive(from, message); });
  while (receive(from, message)) {
  }
  PMPI_Comm_free(&comm_);
}

} // namespace gmpi
