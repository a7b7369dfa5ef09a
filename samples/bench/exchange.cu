// Two ranks trade messages in every way that programs write it: by MPI_Sendrecv, all at once, with
// MPI_Send against MPI_Irecv, with waits of every kind. By size, from kernel to kernel, and what is
// long also between buffers that the other rank cannot map; beside it the queue, the same by hand,
// NCCL, and the hosts' own calls.
#include "bench.h"
#include "with_nccl.h"

using bench::Role;

constexpr int most_messages = 16; // --messages' limit

/// So many messages each way with the same peer, so many times.
struct Messages {
  unsigned char *out, *in; ///< the messages one behind the other
  int bytes, messages, peer, rounds;
  MPI_Comm comm; ///< of the messages

  __host__ __device__ unsigned char *sent(int k) const { return out + std::size_t(k) * bytes; }
  __host__ __device__ unsigned char *received(int k) const { return in + std::size_t(k) * bytes; }
};

static __global__ void sendrecvs(Messages e) {
  for (int i = 0; i < e.rounds; ++i)
    for (int k = 0; k < e.messages; ++k)
      MPI_Sendrecv(e.sent(k), e.bytes, MPI_BYTE, e.peer, k, e.received(k), e.bytes, MPI_BYTE,
                   e.peer, k, e.comm, MPI_STATUS_IGNORE);
}

/// All at once: also what the hosts do.
__host__ __device__ static void all_at_once(Messages e) {
  MPI_Request requests[2 * most_messages];
  for (int k = 0; k < e.messages; ++k)
    MPI_Irecv(e.received(k), e.bytes, MPI_BYTE, e.peer, k, e.comm, &requests[k]);
  for (int k = 0; k < e.messages; ++k)
    MPI_Isend(e.sent(k), e.bytes, MPI_BYTE, e.peer, k, e.comm, &requests[e.messages + k]);
  MPI_Waitall(2 * e.messages, requests, MPI_STATUSES_IGNORE);
}

static __global__ void waitalls(Messages e) {
  for (int i = 0; i < e.rounds; ++i)
    all_at_once(e);
}

static __global__ void waitalls_with_statuses(Messages e) {
  for (int i = 0; i < e.rounds; ++i) {
    MPI_Request requests[2 * most_messages];
    MPI_Status statuses[2 * most_messages];
    for (int k = 0; k < e.messages; ++k)
      MPI_Irecv(e.received(k), e.bytes, MPI_BYTE, e.peer, k, e.comm, &requests[k]);
    for (int k = 0; k < e.messages; ++k)
      MPI_Isend(e.sent(k), e.bytes, MPI_BYTE, e.peer, k, e.comm, &requests[e.messages + k]);
    MPI_Waitall(2 * e.messages, requests, statuses);
  }
}

static __global__ void a_wait_each(Messages e) {
  for (int i = 0; i < e.rounds; ++i) {
    MPI_Request requests[2 * most_messages];
    for (int k = 0; k < e.messages; ++k)
      MPI_Irecv(e.received(k), e.bytes, MPI_BYTE, e.peer, k, e.comm, &requests[k]);
    for (int k = 0; k < e.messages; ++k)
      MPI_Isend(e.sent(k), e.bytes, MPI_BYTE, e.peer, k, e.comm, &requests[e.messages + k]);
    for (int k = 0; k < 2 * e.messages; ++k)
      MPI_Wait(&requests[k], MPI_STATUS_IGNORE);
  }
}

static __global__ void sends_at_once(Messages e) {
  for (int i = 0; i < e.rounds; ++i) {
    MPI_Request requests[most_messages];
    for (int k = 0; k < e.messages; ++k)
      MPI_Irecv(e.received(k), e.bytes, MPI_BYTE, e.peer, k, e.comm, &requests[k]);
    for (int k = 0; k < e.messages; ++k)
      MPI_Send(e.sent(k), e.bytes, MPI_BYTE, e.peer, k, e.comm);
    MPI_Waitall(e.messages, requests, MPI_STATUSES_IGNORE);
  }
}

static __global__ void sends_in_turn(Messages e) {
  for (int i = 0; i < e.rounds; ++i)
    for (int k = 0; k < e.messages; ++k) {
      MPI_Request request;
      MPI_Irecv(e.received(k), e.bytes, MPI_BYTE, e.peer, k, e.comm, &request);
      MPI_Send(e.sent(k), e.bytes, MPI_BYTE, e.peer, k, e.comm);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

static __global__ void sends_in_turn_with_statuses(Messages e) {
  for (int i = 0; i < e.rounds; ++i)
    for (int k = 0; k < e.messages; ++k) {
      MPI_Request request;
      MPI_Status status;
      MPI_Irecv(e.received(k), e.bytes, MPI_BYTE, e.peer, k, e.comm, &request);
      MPI_Send(e.sent(k), e.bytes, MPI_BYTE, e.peer, k, e.comm);
      MPI_Wait(&request, &status);
    }
}

static __global__ void receives_in_turn(Messages e) {
  for (int i = 0; i < e.rounds; ++i)
    for (int k = 0; k < e.messages; ++k) {
      MPI_Request request;
      MPI_Isend(e.sent(k), e.bytes, MPI_BYTE, e.peer, k, e.comm, &request);
      MPI_Recv(e.received(k), e.bytes, MPI_BYTE, e.peer, k, e.comm, MPI_STATUS_IGNORE);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

static __global__ void nothing() {}

namespace {

struct Way {
  const char *name; ///< of its column
  void (*kernel)(Messages);
};

constexpr Way ways[] = {{"Sendrecv in turn", sendrecvs},
                        {"Irecv, Isend, Waitall", waitalls},
                        {"the same, statuses", waitalls_with_statuses},
                        {"Irecv, Isend, Wait each", a_wait_each},
                        {"Irecv, Send, Waitall", sends_at_once},
                        {"Irecv, Send, Wait in turn", sends_in_turn},
                        {"the same, a status", sends_in_turn_with_statuses},
                        {"Isend, Recv, Wait in turn", receives_in_turn}};

std::size_t all_bytes(const Messages &e) { return std::size_t(e.messages) * e.bytes; }

/// Microseconds of a round; says so where a byte of the last one is wrong.
template <class Run>
bench::Sample measure(bench::Bench &bench, const Messages &e, const char *what, Run run) {
  bench::fill(e.out, all_bytes(e), 1 + bench.rank);
  bench::fill(e.in, all_bytes(e), 3);
  bench::Sample sample = bench.measure(e.rounds, run);
  bench.wrong(what, bench::wrong_bytes(e.in, all_bytes(e), 1 + e.peer), "bytes");
  return sample;
}

struct Setting {
  int blocks, threads;
  bench::Stream stream;
};

/// A kernel, a copy to the host, MPI, a copy to the device.
void classic(const Messages &device, const Messages &host, const Setting &with) {
  auto copy = [&](void *to, const void *from) {
    CUDA_CHECK(cudaMemcpyAsync(to, from, all_bytes(device), cudaMemcpyDefault, with.stream));
  };
  for (int i = 0; i < device.rounds; ++i) {
    nothing<<<with.blocks, with.threads, 0, with.stream>>>();
    copy(host.out, device.out);
    with.stream.synchronize();
    all_at_once(host);
    copy(device.in, host.in);
  }
  with.stream.synchronize();
}

bench::Cell with_nccl(bench::Bench &bench, const Messages &e, const Setting &with) {
  if (!nccl::available())
    return {};
  return measure(bench, e, "NCCL", [&] {
    for (int i = 0; i < e.rounds; ++i)
      nccl::exchange(reinterpret_cast<const char *>(e.out), reinterpret_cast<char *>(e.in), e.bytes,
                     e.messages, e.peer, with.stream);
    with.stream.synchronize();
  });
}

/// These are done between buffers that cannot be mapped, too.
constexpr Way through_rings[] = {{"Sendrecv in turn, through a ring", sendrecvs},
                                 {"all at once, through a ring", waitalls}};
/// Shorter messages go with their data anyhow.
constexpr int least_through_ring = 65537;

/// One size: a row of the table.
void line(bench::Bench &bench, const Messages &device, const Messages &unmapped,
          const Messages &host, const Setting &with, const bench::KernelsComm &kernels) {
  bench::PreferredLowering preferred("queue");
  auto run = [&](const Way &way, const Messages &e) {
    return measure(bench, e, way.name, [&] {
      way.kernel<<<with.blocks, with.threads>>>(e);
      bench::synchronize();
    });
  };
  std::vector<bench::Cell> row = {device.bytes};
  Messages among = device;
  among.comm = kernels.get();
  for (const Way &way : ways)
    row.push_back(kernels.available() ? bench::Cell(run(way, among)) : bench::Cell());
  among.out = unmapped.out, among.in = unmapped.in;
  for (const Way &way : through_rings)
    row.push_back(kernels.available() && device.bytes >= least_through_ring
                      ? bench::Cell(run(way, among))
                      : bench::Cell());
  row.push_back(run({"queue", waitalls}, device));
  row.push_back(measure(bench, device, "classic", [&] { classic(device, host, with); }));
  row.push_back(with_nccl(bench, device, with));
  row.push_back(measure(bench, host, "host MPI", [&] {
    for (int i = 0; i < host.rounds; ++i)
      all_at_once(host);
  }));
  bench.row(row);
}

std::vector<bench::Column> columns() {
  std::vector<bench::Column> all = {{"size", "B", Role::x}};
  for (const Way &way : ways)
    all.push_back({way.name, "us", Role::ours});
  for (const Way &way : through_rings)
    all.push_back({way.name, "us", Role::ours});
  all.push_back({"queue, all at once", "us", Role::ours});
  all.push_back({"classic", "us", Role::peer});
  all.push_back({"NCCL", "us", Role::peer});
  all.push_back({"host MPI", "us", Role::limit});
  return all;
}

} // namespace

void experiments::exchange(bench::Bench &bench) {
  std::vector<int> counts = {1, 6};
  if (int messages = bench.options.integer("messages", 0))
    counts = {messages};
  std::vector<std::size_t> sizes = bench.sizes(8, 1 << 18);
  std::size_t room = sizes.back() * counts.back();
  bench::Array<unsigned char> out(room), in(room);
  bench::Array<unsigned char> unmapped_out(room, bench::Memory::pool);
  bench::Array<unsigned char> unmapped_in(room, bench::Memory::pool);
  bench::Array<unsigned char> host_out(room, bench::Memory::pinned);
  bench::Array<unsigned char> host_in(room, bench::Memory::pinned);
  Setting with = {bench.blocks(), bench.threads(), {}};
  bench::KernelsComm kernels;
  for (int messages : counts) {
    bench.table(std::to_string(messages) + (messages == 1 ? " message" : " messages") +
                    " each way, grid of " + std::to_string(with.blocks) +
                    " blocks; by peer, by the calls that trade them",
                columns(), bench::note({kernels.why_not(), nccl::why_not()}));
    for (std::size_t bytes : sizes) {
      Messages device = {out.data(),    in.data(),      static_cast<int>(bytes),
                         messages,      1 - bench.rank, bench.iterations(bytes, 400),
                         MPI_COMM_WORLD};
      Messages unmapped = device, host = device;
      unmapped.out = unmapped_out.data(), unmapped.in = unmapped_in.data();
      host.out = host_out.data(), host.in = host_in.data();
      line(bench, device, unmapped, host, with, kernels);
    }
  }
}
