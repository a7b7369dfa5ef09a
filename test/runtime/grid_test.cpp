// Calls of grid and block scope as kernels make them, with threads and blocks that leave early in
// every order: the rendezvous, promotions, copies shared among blocks, buffers in local memory. The
// test plays the proxy, so that it sees each Attribute and chooses each Reply.
#include "cpu_run.hpp"
#include "queue_memory.hpp"

#include "queue/team_device.hpp"

#include <gmpi/gmpi.hpp>

#include <chrono>
#include <cstring>
#include <functional>
#include <map>
#include <random>
#include <thread>

using namespace gmpi;

static const int environment = setenv("GMPI_CPU_MULTIPROCESSORS", "4", 1) +
                               setenv("GMPI_CPU_STACK_KB", "256", 1); // for large local buffers

namespace {

constexpr std::uint32_t launch_index = 3;
// Blocks of up to 64 threads share its copies; no multiple of what is copied at once.
constexpr std::size_t staged = 300000;
static_assert(staged > 64 * device::shared_send_bytes && staged % device::least_copy_portion != 0);

/// The host's end: answers each call at once, until the launch has left.
class FakeProxy {
public:
  QueueMemory memory;
  LaunchState state{};
  std::vector<unsigned char> outgoing = std::vector<unsigned char>(staged); ///< to receive calls
  std::vector<unsigned char> incoming = std::vector<unsigned char>(staged); ///< from send calls
  std::vector<unsigned char> beside;                                        ///< the last such data
  std::vector<Attribute> calls;
  std::vector<std::vector<unsigned char>> sent; ///< by MPI_Isends
  int leaves = 0;
  bool succeeds = false; ///< calls return MPI_SUCCESS

  FakeProxy() {
    memory.context.payload = payload_.data();
    memory.context.world = MPI_COMM_WORLD;
    memory.context.self = MPI_COMM_SELF;
    memory.context.tag_upper_bound = 99;
    memory.context.wtime_offset = &wtime_offset_;
    std::uint32_t place = datatype_hash(MPI_BYTE); // needed where handles do not tell the size
    memory.context.datatypes[place] = {MPI_BYTE, 1, 1, {}};
    device::context = memory.context;
    for (std::size_t i = 0; i < staged; ++i)
      outgoing[i] = static_cast<unsigned char>(i * 13 + i / 255);
  }
  Launched launched() { return {&state, launch_index}; }

  /// Runs `kernel` in every thread and answers until all have left.
  void run(Shape shape, std::function<void()> kernel) {
    shape.cooperative = true;
    int before = leaves;
    for (gmpi::peer::Source &source : state.sources)
      source.comm = MPI_COMM_WORLD; // as calls between kernels leave it
    ASSERT_EQ(::launch(shape, [kernel, launched = launched()] {
                Participant participant(launched);
                kernel();
              }),
              cudaSuccess);
    auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (leaves == before) {
      if (!serve())
        std::this_thread::yield();
      if (std::chrono::steady_clock::now() > end) {
        ADD_FAILURE() << "the kernel hangs; membership " << std::hex << state.membership;
        std::_Exit(1); // nothing else ends it
      }
    }
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    Attribute more;
    EXPECT_FALSE(ring_.peek(more));
    EXPECT_EQ(leaves, before + 1);
    EXPECT_EQ(state.membership, 0u);
    EXPECT_EQ(state.command, 0u);
    EXPECT_EQ(state.claimed, 0u);
    for (const gmpi::peer::Source &source : state.sources)
      EXPECT_EQ(source.comm, MPI_Comm{});
  }

private:
  bool serve() {
    Attribute attribute;
    if (!ring_.peek(attribute))
      return false;
    if (attribute.inline_in && attribute.in_bytes != 0)
      beside.assign(ring_.data(), ring_.data() + attribute.in_bytes);
    ring_.release();
    ring_.publish();
    if (attribute.function == Function::leave) {
      EXPECT_EQ(attribute.launch, launch_index);
      ++leaves;
    } else if (attribute.function == Function::copied) {
      if (is_sending_[attribute.slot])
        answer(attribute.slot, {ReplyKind::done, sending_[attribute.slot], 0, nullptr, 0, 0, 0, 0, {}});
      if (const auto copied = copying_.find(attribute.slot); copied != copying_.end()) {
        sent.push_back(std::move(copied->second));
        copying_.erase(copied);
        answer(attribute.slot, {ReplyKind::done, MPI_SUCCESS, 0, nullptr, 0, 0, 0, 0, {}});
      }
    } else {
      calls.push_back(attribute);
      turns_[attribute.slot] = attribute.turn;
      answer_call(attribute);
    }
    return true;
  }

  /// Calls return their number (from 1) as error code, so that who got which result shows, or
  /// succeed.
  void answer_call(const Attribute &attribute) {
    std::uint32_t slot = attribute.slot;
    int number = succeeds ? MPI_SUCCESS : static_cast<int>(calls.size());
    auto bytes = static_cast<std::uint64_t>(attribute.arguments.recv_count);
    is_sending_[slot] = false;
    if (attribute.function == Function::Ssend && !attribute.inline_in) {
      is_sending_[slot] = true;
      sending_[slot] = number;
      answer(slot, {ReplyKind::copy_in, 0, attribute.in_bytes, incoming.data(), 0, 0, 0, 0, {}});
    } else if (kind_of(attribute.function) == Kind::nonblocking) {
      answer_request(attribute);
    } else if (attribute.function == Function::Recv && bytes > inline_bytes) {
      answer(slot, {ReplyKind::copy_out_last, number, bytes, outgoing.data(), 0, 7, 8, bytes, {}});
    } else if (attribute.function == Function::Recv && bytes <= attribute.beside) {
      answer(slot, {ReplyKind::done_beside, number, bytes, nullptr, 0, 7, 8, bytes, {}},
             outgoing.data());
    } else if (attribute.function == Function::Recv) {
      std::memcpy(&payload_[std::size_t(slot) * inline_bytes], outgoing.data(), bytes);
      answer(slot, {ReplyKind::done, number, bytes, nullptr, 0, 7, 8, bytes, {}});
    } else {
      answer(slot, {ReplyKind::done, number, 0, nullptr, 0, 7, 8, 0, {}});
    }
  }

  /// Requests are done at once, or once what they send has been copied, and all of what is received
  /// has come, one way or another.
  void answer_request(const Attribute &attribute) {
    const bool receives = attribute.function == Function::Irecv;
    const std::uint64_t bytes = receives ? attribute.arguments.recv_count : 0;
    Reply reply{ReplyKind::done, MPI_SUCCESS, bytes, nullptr, 0, 7, 8, bytes, {}};
    const bool is_beside = bytes != 0 && bytes <= attribute.beside;
    if (is_beside)
      reply.kind = ReplyKind::done_beside;
    else if (bytes != 0)
      std::memcpy(&payload_[std::size_t(attribute.slot) * inline_bytes], outgoing.data(), bytes);
    if (!receives && !attribute.inline_in) {
      std::vector<unsigned char> &copy = copying_[attribute.slot];
      copy.resize(attribute.in_bytes);
      return answer(attribute.slot,
                    {ReplyKind::copy_in_last, MPI_SUCCESS, attribute.in_bytes, copy.data(), 0, 0, 0, 0, {}});
    }
    if (!receives)
      sent.emplace_back(beside.begin(), beside.begin() + std::ptrdiff_t(attribute.in_bytes));
    answer(attribute.slot, reply, is_beside ? outgoing.data() : nullptr);
  }

  void answer(std::uint32_t slot, const Reply &reply, const void *data = nullptr) {
    memory.reply(slot, ++turns_[slot], reply, 0, data);
  }

  AttributeRing ring_ = memory.consumer();
  std::vector<unsigned char> payload_ =
      std::vector<unsigned char>(std::size_t(request_slots) * inline_bytes);
  double wtime_offset_ = 1;
  std::uint32_t turns_[request_slots] = {};
  std::map<std::uint32_t, std::vector<unsigned char>> copying_; ///< by slot: what MPI_Isends send
  bool is_sending_[request_slots] = {};
  int sending_[request_slots] = {}; ///< what the call returns
};

constexpr Site site{1, 2};

int grid_barrier() { return grid::MPI_Barrier(site, MPI_COMM_WORLD); }
int grid_send(const void *data, int bytes) {
  return grid::MPI_Ssend(site, data, bytes, MPI_BYTE, 1, 2, MPI_COMM_WORLD);
}
int grid_receive(void *data, int bytes, MPI_Status *status = MPI_STATUS_IGNORE) {
  return grid::MPI_Recv(site, data, bytes, MPI_BYTE, 1, 2, MPI_COMM_WORLD, status);
}

struct Grid : testing::Test {
  FakeProxy proxy;
  Values<int> wrong{1};
  Values<unsigned char> device = Values<unsigned char>(staged);

  void TearDown() override { EXPECT_EQ(wrong[0], 0); }
};

unsigned block_number() { return blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z); }

} // namespace

TEST_F(Grid, one_call_for_all) {
  proxy.run({dim3(3, 2), dim3(4, 4, 2)}, [wrong = wrong.data] {
    for (int call = 1; call <= 20; ++call)
      if (grid_barrier() != call)
        atomicAdd(wrong, 1);
  });
  EXPECT_EQ(proxy.calls.size(), 20u);
  for (const Attribute &call : proxy.calls) {
    EXPECT_EQ(call.function, Function::Barrier);
    EXPECT_EQ(call.scope, Scope::grid);
    EXPECT_EQ(call.slot, launch_index); // the launch's own
    EXPECT_EQ(call.launch, launch_index);
    EXPECT_EQ(call.site.file, 1u);
    EXPECT_EQ(call.site.line, 2u);
  }
}

TEST_F(Grid, kernel_that_calls_nothing) {
  proxy.run({5, 7}, [] {});
  EXPECT_TRUE(proxy.calls.empty());
}

TEST_F(Grid, launches_one_after_the_other) {
  for (int launch = 0; launch < 10; ++launch)
    proxy.run({4, 8}, [] {
      if (blockIdx.x != 2)
        grid_barrier();
    });
  EXPECT_EQ(proxy.calls.size(), 10u);
}

/// One block alone leaves before the call, each in turn; then all but one.
TEST_F(Grid, any_one_block_leaves) {
  constexpr unsigned blocks = 5;
  for (unsigned leaving = 0; leaving < blocks; ++leaving)
    for (bool others : {false, true})
      proxy.run({blocks, 8}, [=] {
        if ((blockIdx.x == leaving) != others)
          return;
        grid_barrier();
        grid_barrier();
      });
  EXPECT_EQ(proxy.calls.size(), 2u * 2 * blocks);
}

TEST_F(Grid, all_threads_but_one_leave) {
  for (unsigned staying : {0u, 1u, 31u, 32u, 63u})
    proxy.run({3, 64}, [=, wrong = wrong.data, device = device.data] {
      if (threadIdx.x != staying)
        return;
      grid_barrier();
      int place[3] = {};
      grid_receive(place, sizeof(place));
      grid_receive(device, staged);
      grid_send(device, staged);
    });
  EXPECT_EQ(proxy.calls.size(), 5u * 4);
  EXPECT_EQ(proxy.incoming, proxy.outgoing);
}

/// `if (i >= n) return;` of a grid that is larger than its data.
TEST_F(Grid, only_the_first_threads_stay) {
  for (unsigned n : {1u, 31u, 64u, 65u, 127u, 191u, 192u}) {
    std::size_t before = proxy.calls.size();
    proxy.run({3, 64}, [=] {
      if (blockIdx.x * blockDim.x + threadIdx.x >= n)
        return;
      grid_barrier();
    });
    EXPECT_EQ(proxy.calls.size(), before + 1);
  }
}

/// The last event before the call is a block's departure, so one of those that wait is promoted.
TEST_F(Grid, promotion) {
  constexpr unsigned blocks = 4;
  Values<int> promoted(1);
  for (unsigned leaving = 0; leaving < blocks; ++leaving)
    proxy.run({blocks, 8}, [=, state = &proxy.state, promoted = promoted.data] {
      for (int round = 0; round < 3; ++round)
        grid_barrier();
      if (blockIdx.x == leaving) {
        while ((device::load_acquire_device(&state->membership) & 0xffffffff) != blocks - 1)
          device::relax();
        return;
      }
      grid_barrier();
      if (blockIdx.x == (leaving + 1) % blocks && threadIdx.x == 0)
        *promoted += atomicAdd(&state->claimed, 0u) != 0;
      for (int round = 0; round < 3; ++round)
        grid_barrier();
    });
  EXPECT_EQ(promoted[0], int(blocks));
  EXPECT_EQ(proxy.calls.size(), 7u * blocks);
}

/// Block after block leaves while the others wait: one promotion after the other.
TEST_F(Grid, promotions_in_a_row) {
  constexpr unsigned blocks = 6;
  proxy.run({blocks, 4}, [=, state = &proxy.state, wrong = wrong.data] {
    for (unsigned round = 0; round < blocks; ++round) {
      if (blockIdx.x == round) {
        while ((device::load_acquire_device(&state->membership) & 0xffffffff) !=
               blocks - 1 - round)
          device::relax();
        return;
      }
      if (grid_barrier() != int(round) + 1)
        atomicAdd(wrong, 1);
    }
  });
  EXPECT_EQ(proxy.calls.size(), blocks - 1);
}

/// A kernel that has made so many calls that the rounds' bits wrap, at any point of what it does.
TEST_F(Grid, rounds_wrap) {
  constexpr unsigned blocks = 3;
  for (std::uint32_t before_wrap = 0; before_wrap < 12; ++before_wrap) {
    const std::uint32_t first_round = (1u << (32 - device::command_bits)) - 1 - before_wrap;
    proxy.state.command = first_round << device::command_bits;
    std::memset(device.data, 0, staged);
    std::size_t before = proxy.calls.size();
    proxy.run({blocks, 8}, [=, state = &proxy.state, device = device.data, wrong = wrong.data] {
      if (threadIdx.x == 0)
        device::block_state().round = first_round;
      int calls = int(before);
      if (grid_barrier() != ++calls || grid_barrier() != ++calls)
        atomicAdd(wrong, 1);
      if (blockIdx.x == 1) {
        while ((device::load_acquire_device(&state->membership) & 0xffffffff) != blocks - 1)
          device::relax();
        return;
      }
      if (grid_barrier() != ++calls || grid_receive(device, staged) != ++calls ||
          grid_barrier() != ++calls)
        atomicAdd(wrong, 1);
    });
    EXPECT_EQ(std::memcmp(device.data, proxy.outgoing.data(), staged), 0);
  }
  EXPECT_EQ(proxy.calls.size(), 12u * 5);
}

/// What a call has received, up to eight bytes, comes with the word that ends it: also where the
/// rounds wrap, and where a block has departed meanwhile and promotes another.
TEST_F(Grid, what_comes_with_the_end_of_a_call) {
  constexpr unsigned blocks = 4, calls = 8;
  const std::uint32_t first_round = (1u << (32 - device::command_bits)) - 1 - calls / 2;
  proxy.state.command = first_round << device::command_bits;
  Values<int> led(1), brought(1);
  proxy.run({blocks, 1}, [=, state = &proxy.state, led = led.data, brought = brought.data,
                          wrong = wrong.data] {
    device::BlockState &block = device::block_state();
    block.round = first_round;
    for (unsigned call = 1; call <= calls; ++call) {
      if (call == calls / 2 && blockIdx.x == 2) {
        while ((device::load_acquire_device(&state->membership) & 0xffffffff) != blocks - 1)
          device::relax();
        return;
      }
      const std::uint64_t data = 0x0123456789abcdef * call;
      const auto bytes = static_cast<std::uint32_t>(call);
      const device::GridCommand command = device::arrive(block);
      if (command == device::GridCommand::lead) {
        device::bring(block, bytes, data);
        atomicAdd(led, 1);
      } else if (command == device::GridCommand::bring && device::own_words(block)[0] == data &&
                 block.result.error == int(bytes)) {
        atomicAdd(brought, 1);
      } else {
        atomicAdd(wrong, 1);
      }
    }
  });
  EXPECT_EQ(led[0], int(calls));
  EXPECT_EQ(brought[0], int(calls * (blocks - 1) - (calls / 2 + 1)));
}

/// Blocks that meet, and go on to make a call each by itself. Where one of them arrives at a call
/// instead, or departs, the others take their part in the meeting back and arrive, too; the next
/// meeting is as if nothing had happened. Also where the count of those that have met wraps.
TEST_F(Grid, meetings) {
  constexpr unsigned blocks = 4, rounds = 12;
  constexpr std::uint32_t before_wrap = (1u << 30) - rounds / 2;
  proxy.state.met = before_wrap * blocks;
  Values<int> met(1), led(1), served(1), parted(1);
  proxy.run({blocks, 1}, [=, state = &proxy.state, met = met.data, led = led.data,
                          served = served.data, parted = parted.data, wrong = wrong.data] {
    device::BlockState &block = device::block_state();
    block.meetings = before_wrap;
    const auto arrive = [&] {
      if (device::arrive(block) == device::GridCommand::lead) {
        // Nobody's part in the meeting is left: who has arrived has taken it back.
        if (device::load_acquire_device(&state->met) != block.meetings * blocks)
          atomicAdd(wrong, 1);
        device::command(block, device::GridCommand::done, device::arrivals(block));
        atomicAdd(led, 1);
      } else {
        atomicAdd(served, 1);
      }
    };
    for (unsigned round = 0; round < rounds; ++round) {
      const bool is_general = round % 3 == 1; // for one block, each in turn
      if (is_general && blockIdx.x == round % blocks) {
        arrive();
      } else if (device::meet_to_begin(block)) {
        atomicAdd(is_general ? wrong : met, 1);
      } else {
        if (!is_general || block.parted)
          atomicAdd(wrong, 1);
        arrive();
      }
    }
    if (blockIdx.x == 1)
      return;
    if (device::meet_to_begin(block))
      atomicAdd(wrong, 1);
    if (block.parted)
      atomicAdd(parted, 1);
    arrive();
  });
  EXPECT_EQ(met[0], int(blocks * (rounds - rounds / 3)));
  EXPECT_EQ(led[0], int(rounds / 3 + 1));
  EXPECT_EQ(served[0], int((blocks - 1) * (rounds / 3) + blocks - 2));
  EXPECT_EQ(parted[0], int(blocks - 1));
  EXPECT_EQ(proxy.state.met, 0u);
}

/// Large data is copied by all blocks, a part each.
TEST_F(Grid, shared_copies) {
  proxy.run({8, 32}, [=, device = device.data] {
    grid_receive(device, staged);
    grid_send(device, staged);
  });
  EXPECT_EQ(std::memcmp(device.data, proxy.outgoing.data(), staged), 0);
  EXPECT_EQ(proxy.incoming, proxy.outgoing);
}

/// Shorter data is copied by the block that makes the call, as soon as its first warp knows where.
TEST_F(Grid, copies_by_one_block) {
  constexpr int bytes = 100000;
  static_assert(bytes > inline_bytes && bytes < 128 * int(device::shared_receive_bytes));
  proxy.succeeds = true;
  Values<int> wrong(1);
  for (unsigned blocks : {1u, 3u})
    for (int shift = 0; shift < 5; ++shift) {
      std::memset(device.data, 0, staged);
      std::fill(proxy.incoming.begin(), proxy.incoming.end(), 0);
      proxy.run({blocks, 128}, [=, device = device.data, wrong = wrong.data] {
        for (int turn = 0; turn < 3; ++turn) {
          MPI_Status status{};
          const int received = grid_receive(device + shift, bytes, turn == 1 ? &status : MPI_STATUS_IGNORE);
          const int sent = grid_send(device + shift, bytes);
          if (received != MPI_SUCCESS || sent != MPI_SUCCESS ||
              (turn == 1 && (status.MPI_SOURCE != 7 || status.MPI_TAG != 8)))
            ++*wrong;
        }
      });
      EXPECT_EQ(std::memcmp(device.data + shift, proxy.outgoing.data(), bytes), 0);
      EXPECT_EQ(device[shift + bytes], 0);
      EXPECT_EQ(std::memcmp(proxy.incoming.data(), proxy.outgoing.data(), bytes), 0);
    }
  EXPECT_EQ(wrong[0], 0);
}

TEST_F(Grid, shared_copies_at_any_alignment) {
  for (int shift = 0; shift < 5; ++shift) {
    std::memset(device.data, 0, staged);
    proxy.run({3, 32}, [=, device = device.data] {
      grid_receive(device + shift, staged - 16);
      grid_send(device + shift, staged - 16);
    });
    EXPECT_EQ(std::memcmp(device.data + shift, proxy.outgoing.data(), staged - 16), 0);
    EXPECT_EQ(device[shift + staged - 16], 0);
    EXPECT_EQ(std::memcmp(proxy.incoming.data(), proxy.outgoing.data(), staged - 16), 0);
  }
}

TEST_F(Grid, data_beside_the_attribute) {
  for (int bytes : {1, 8, 10, 11, 40, 335, 336, 337, 999, 1487, 1488, 1489, 1536, 1540, 4000, 6144, 6145, 20000}) {
    std::memset(device.data, 0, bytes + 1);
    std::size_t before = proxy.calls.size();
    proxy.run({4, 40}, [=, device = device.data] {
      grid_receive(device, bytes);
      grid_send(device, bytes);
    });
    EXPECT_EQ(std::memcmp(device.data, proxy.outgoing.data(), bytes), 0) << bytes;
    EXPECT_EQ(device[bytes], 0) << bytes;
    ASSERT_EQ(proxy.calls.size(), before + 2);
    EXPECT_TRUE(proxy.calls.back().inline_in);
    EXPECT_EQ(proxy.calls.back().tagged, bytes <= int(tagged_bytes));
    ASSERT_EQ(proxy.beside.size(), std::size_t(bytes));
    EXPECT_EQ(std::memcmp(proxy.beside.data(), proxy.outgoing.data(), bytes), 0) << bytes;
  }
}

/// A local variable is received in every thread, in one part or in several.
/// Nonblocking calls that are left to a wait: the blocks meet once for all of them, and the proxy
/// gets them in their order, each with its data and place. Also where threads have left the blocks,
/// and where one of them is too long to be left.
TEST_F(Grid, calls_left_to_a_wait) {
  constexpr int count = 7, turns = 8, stride = 8192;
  constexpr int lengths[count] = {0, 8, 71, 72, 100, 1400, 6000}; // of a Reply's, and of an Attribute's ways
  constexpr int most_longs = 5;
  static constexpr int longest_along = 16384; // what is longer is copied when the proxy asks for it
  struct Longs {
    int bytes, count; // of those that are sent behind the others
    // (Among those that are copied then, short ones, which do not overtake them.)
    int length(int i) const { return bytes > longest_along && i % 2 != 0 ? 100 : bytes; }
  };
  for (const bool some_left : {false, true})
    for (const Longs longs : {Longs{0, 0}, {int(tagged_bytes) + 1, 1}, {longest_along, most_longs},
                              {longest_along + 1, 1}, {longest_along + 1, most_longs}, {65536, most_longs}}) {
      proxy.calls.clear();
      proxy.sent.clear();
      proxy.run({3, 70}, [=, device = device.data, wrong = wrong.data] {
        if (some_left && threadIdx.x == 40)
          return;
        unsigned char *const data = device, *const got = device + stride * (count + 1);
        int quick_turns = 0;
        for (int turn = 0; turn < turns; ++turn) {
          if (block_number() == 0 && threadIdx.x == 0)
            for (int i = 0; i < stride * (count + 1); ++i) {
              data[i] = static_cast<unsigned char>(i + turn);
              got[i] = 99;
            }
          grid_barrier();
          const std::uint32_t round = device::block_state().round;
          MPI_Request all[2 * count + most_longs + 1];
          for (unsigned i = 0; i < count; ++i)
            grid::followed::MPI_Irecv({1, 10 + i}, got + i * stride, lengths[i], MPI_BYTE, 1, int(i),
                                      MPI_COMM_WORLD, &all[i]);
          for (unsigned i = 0; i < count; ++i)
            grid::followed::MPI_Isend({1, 20 + i}, data + i * stride, lengths[i], MPI_BYTE, 1, int(i),
                                      MPI_COMM_WORLD, &all[count + i]);
          for (unsigned i = 0; i < unsigned(longs.count); ++i)
            grid::followed::MPI_Isend({1, 20 + count + i}, data, longs.length(int(i)), MPI_BYTE, 1, 9,
                                      MPI_COMM_WORLD, &all[2 * count + i]);
          all[2 * count + longs.count] = MPI_REQUEST_NULL;
          grid::MPI_Waitall(site, 2 * count + longs.count + 1, all, MPI_STATUSES_IGNORE);
          quick_turns += device::block_state().round - round == 1;
          for (int i = 0; i <= 2 * count + longs.count; ++i)
            if (all[i] != MPI_REQUEST_NULL)
              atomicAdd(wrong, 1);
          if (threadIdx.x == 0)
            for (int i = 0; i < count; ++i)
              for (int k = 0; k <= lengths[i]; ++k)
                if (got[i * stride + k] != (k < lengths[i] ? static_cast<unsigned char>(k * 13 + k / 255) : 99))
                  atomicAdd(wrong, 1);
          grid_barrier();
        }
        // The first time the launch gets its requests, and now and then more of them.
        if (!some_left && threadIdx.x == 0 && quick_turns < turns / 2)
          atomicAdd(wrong, 1);
      });
      std::size_t sends = 0, all = 0;
      for (const Attribute &call : proxy.calls) {
        if (kind_of(call.function) != Kind::nonblocking)
          continue;
        const unsigned place = unsigned(all++ % (2 * count + longs.count));
        const bool receives = place < count;
        EXPECT_EQ(call.function, receives ? Function::Irecv : Function::Isend);
        EXPECT_EQ(call.site.line, receives ? 10 + place : 20 + place - count);
        EXPECT_EQ(call.scope, Scope::grid);
        EXPECT_EQ(call.launch, launch_index);
        if (receives)
          continue;
        const int turn = int(sends / (count + longs.count)), i = int(place) - count;
        const int from = i < count ? i * stride : 0;
        ASSERT_LT(sends, proxy.sent.size());
        const std::vector<unsigned char> &data = proxy.sent[sends++];
        ASSERT_EQ(data.size(), std::size_t(i < count ? lengths[i] : longs.length(i - count)));
        for (std::size_t k = 0; k < data.size(); ++k)
          ASSERT_EQ(data[k], static_cast<unsigned char>(from + int(k) + turn));
      }
      EXPECT_EQ(all, std::size_t(turns) * (2 * count + longs.count));
    }
}

TEST_F(Grid, deliver_to_locals) {
  proxy.run({3, 20}, [=, expected = proxy.outgoing.data(), wrong = wrong.data] {
    if (threadIdx.x % 5 == 1)
      return;
    unsigned char large[3 * broadcast_bytes + 77], little[40];
    MPI_Status status;
    grid_receive(little, sizeof(little), &status);
    bool good = std::memcmp(little, expected, sizeof(little)) == 0 && status.MPI_SOURCE == 7 &&
                status.MPI_TAG == 8 && status_bytes(status) == sizeof(little);
    if (blockIdx.x == 1)
      return;
    grid_receive(large, sizeof(large));
    if (!good || std::memcmp(large, expected, sizeof(large)) != 0)
      atomicAdd(wrong, 1);
  });
  EXPECT_EQ(proxy.calls.size(), 2u);
}

/// A result in global memory is written once, in local memory by each thread.
TEST_F(Grid, statuses) {
  Values<MPI_Status> global(1);
  proxy.run({3, 20}, [=, device = device.data, global = global.data, wrong = wrong.data] {
    MPI_Status local;
    grid_receive(device, 10, global);
    grid_receive(device, 11, &local);
    if (status_bytes(*global) != 10 || status_bytes(local) != 11)
      atomicAdd(wrong, 1);
  });
}

/// Every thread leaves after a number of calls of its own; the calls change between the kinds that
/// involve other blocks differently.
TEST_F(Grid, random_departures) {
  constexpr unsigned blocks = 5, threads = 40;
  constexpr int most = 8;
  std::minstd_rand random(7);
  Values<int> calls(blocks * threads);
  for (int run = 0; run < 25; ++run) {
    int longest = 0;
    for (unsigned block = 0; block < blocks; ++block) {
      int whole_block = random() % 2 ? int(random() % most) : -1;
      for (unsigned thread = 0; thread < threads; ++thread) {
        int own = random() % 4 ? 0 : int(random() % most);
        calls[block * threads + thread] = whole_block >= 0 ? whole_block : own;
        longest = std::max(longest, calls[block * threads + thread]);
      }
    }
    std::size_t before = proxy.calls.size();
    proxy.run({blocks, threads}, [=, calls = calls.data, wrong = wrong.data, device = device.data,
                                  expected = proxy.outgoing.data()] {
      const int mine = calls[block_number() * threads + threadIdx.x];
      for (int call = 0; call < mine; ++call) {
        unsigned char local[5000];
        int result = 0;
        switch (call % 4) {
        case 0:
          result = grid_barrier();
          break;
        case 1:
          result = grid_receive(device, staged);
          break;
        case 2:
          result = grid_send(device, staged);
          break;
        default:
          result = grid_receive(local, sizeof(local));
          result += 1000 * (std::memcmp(local, expected, sizeof(local)) != 0);
        }
        if (result != int(before) + call + 1)
          atomicAdd(wrong, 1);
      }
    });
    EXPECT_EQ(proxy.calls.size(), before + longest) << "run " << run;
  }
}

TEST_F(Grid, block_scope_with_departures) {
  constexpr unsigned blocks = 4;
  Values<unsigned char> sent(blocks * 64);
  for (std::size_t i = 0; i < sent.n; ++i)
    sent[i] = static_cast<unsigned char>(i);
  proxy.run({blocks, 40}, [=, sent = sent.data, wrong = wrong.data,
                           expected = proxy.outgoing.data()] {
    if (threadIdx.x < blockIdx.x) // block 0: none; later ones: thread 0 too
      return;
    int count = block::MPI_Ssend(site, sent + 64 * blockIdx.x, 64, MPI_BYTE, int(blockIdx.x), 2,
                                 MPI_COMM_WORLD);
    if (threadIdx.x % 2)
      return;
    unsigned char local[inline_bytes + 800]; // staged
    int next = block::MPI_Recv(site, local, sizeof(local), MPI_BYTE, 1, 2, MPI_COMM_WORLD,
                               MPI_STATUS_IGNORE);
    if (count < 1 || next <= count || std::memcmp(local, expected, sizeof(local)) != 0)
      atomicAdd(wrong, 1);
  });
  EXPECT_EQ(proxy.calls.size(), 2 * blocks);
}

TEST_F(Grid, thread_scope) {
  proxy.run({3, 50}, [wrong = wrong.data, expected = proxy.outgoing.data()] {
    if (threadIdx.x % 3 == 0)
      return;
    for (int i = 1; i < 5; ++i) {
      unsigned char local[100] = {};
      thread::MPI_Recv(site, local, 20 * i, MPI_BYTE, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      if (std::memcmp(local, expected, 20 * i) != 0 || (i < 4 && local[20 * i] != 0))
        atomicAdd(wrong, 1);
    }
  });
  EXPECT_EQ(proxy.calls.size(), 3u * 33 * 4);
}
