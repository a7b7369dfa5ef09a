// The peer transport's channels and matching, both ends played by one thread: State and shared
// memory of two ranks as peer::Links connects them.
#include "cpu_run.hpp"
#include "peer/channel/portions_device.hpp"
#include "peer/channel/routes_device.hpp"
#include "peer/channel/rows_device.hpp"
#include "peer/general/progress_device.hpp"
#include "peer/matching/matching_device.hpp"
#include "posted_receive.hpp"
#include "queue/team_device.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <thread>

#include <memory>
#include <numeric>
#include <vector>

namespace {

using namespace gmpi::peer;
namespace device = gmpi::device::peer;

struct Rank {
  std::vector<unsigned char> memory, kept;
  std::unique_ptr<State> state{new State{}};

  Rank() : memory(Shared{2}.bytes()), kept(kept_bytes(2)) {
    State &s = *state;
    s.peers = s.near_peers = 2;
    empty_lists(s);
    s.acks = reinterpret_cast<std::uint64_t *>(memory.data() + Shared{2}.acks());
    s.kept_data = kept.data();
    for (Line &line : s.sending)
      line.free_until = channel_slots;
    s.comms[0].context = 5;
  }
  void connect(std::uint32_t me, Rank &other, std::uint32_t its) {
    Shared shared{2};
    auto words = [](unsigned char *at) { return reinterpret_cast<std::uint64_t *>(at); };
    auto counts = [](unsigned char *at) { return reinterpret_cast<std::uint32_t *>(at); };
    for (bool owned : {false, true})
      state->channels[owned ? owned_channel(its) : its] = {
          words(other.memory.data() + shared.channel(me, owned)),
          counts(memory.data() + shared.freed(its, owned)),
          words(memory.data() + shared.channel(its, owned)),
          counts(other.memory.data() + shared.freed(me, owned))};
    state->peer_acks[its] = words(other.memory.data() + shared.acks());
  }
};

struct PeerChannel : testing::Test {
  Rank a, b;
  PeerChannel() {
    a.connect(0, b, 1);
    b.connect(1, a, 0);
  }

  Transfer outgoing(const void *data, unsigned long long bytes, int tag, MessageKind kind,
                    Form form = Form::packets) {
    Header header{kind, 5, 0, 0, tag, bytes, 0, form, false};
    const device::Slots slots = device::take_slots(*a.state, 1, carried_slots(header));
    header.after = slots.after;
    auto *from = static_cast<unsigned char *>(const_cast<void *>(data));
    return {a.state->channels[1].out, nullptr, slots.first, from, bytes, header};
  }
  /// a sends a message without data to b through the owned channel, which takes as many slots as
  /// have been. What it reads and what it writes are apart.
  unsigned long long owned_after() { return common_of(a.state->sending[1].next); }
  void send_owned(int tag, unsigned long long after) {
    Line &line = a.state->sending[owned_channel(1)];
    Header header{MessageKind::eager, 5, 0, 0, tag, 0, after, Form::packets, false};
    device::write_share(
        {a.state->channels[owned_channel(1)].out, nullptr, line.next++, nullptr, 0, header}, 0, 1,
        0, 1);
    a.state->sending[1].next += one_owned;
  }
  /// a sends to b.
  unsigned long long send(const void *data, unsigned long long bytes, int tag,
                          MessageKind kind = MessageKind::eager) {
    Transfer t = outgoing(data, bytes, tag, kind);
    device::write_share(t, 0, device::slots_of(t.header), 0, 1);
    return t.first;
  }
  /// A receive of b's, posted in slot `index`.
  Request &post(std::uint32_t index, int tag, std::uint32_t from = 0) {
    return post_receive(*b.state, index, tag, from);
  }
  /// All of the members of a team of `size` take their turns.
  void read(const Transfer &t, std::uint32_t size) {
    unsigned long long slots = slots_for(t.header.bytes);
    for (std::uint32_t rank = 0; rank < size; ++rank)
      device::read_share(t, 0, slots, rank, size);
    for (std::uint32_t rank = 0; rank < size; ++rank)
      device::free_share(t.freed, t.first, t.first + slots, rank, size);
  }
};

TEST(PeerHeader, fields_do_not_meet) {
  const Header header{MessageKind::data,
                      (1u << context_bits) - 1,
                      max_requests - 1,
                      0xffff,
                      -2,
                      (1ull << 47) - 2,
                      1ull << 45,
                      Form::packets,
                      false};
  Header got =
      unpack_header(pack_header(header, 0), pack_header(header, 1), pack_header(header, 2));
  EXPECT_EQ(got.kind, header.kind);
  EXPECT_EQ(got.context, header.context);
  EXPECT_EQ(got.request, header.request);
  EXPECT_EQ(got.serial, header.serial);
  EXPECT_EQ(got.tag, header.tag);
  EXPECT_EQ(got.bytes, header.bytes);
  EXPECT_EQ(got.after, header.after);
  EXPECT_FALSE(got.streams);
  Header streams = header;
  streams.streams = true;
  got = unpack_header(pack_header(streams, 0), pack_header(streams, 1), pack_header(streams, 2));
  EXPECT_TRUE(got.streams);
  EXPECT_EQ(got.bytes, header.bytes);
  EXPECT_EQ(got.serial, header.serial);
  const Header empty{MessageKind::eager, 0, 0, 0, -1, 0, 0, Form::packets, false};
  got = unpack_header(pack_header(empty, 0), pack_header(empty, 1), pack_header(empty, 2));
  EXPECT_EQ(got.context, 0u);
  EXPECT_EQ(got.request, 0u);
  EXPECT_EQ(got.kind, MessageKind::eager);
}

TEST(PeerHeader, of_an_eager_message_says_its_form_and_not_which_request_sends_it) {
  for (const Form form : {Form::packets, Form::apart, Form::dense}) {
    const Header header{MessageKind::eager, 5, max_requests - 1, 0, 7, eager_bytes, 3, form, false};
    const Header got =
        unpack_header(pack_header(header, 0), pack_header(header, 1), pack_header(header, 2));
    EXPECT_EQ(got.form, form);
    EXPECT_EQ(got.request, 0u);
    EXPECT_EQ(got.tag, 7);
    EXPECT_EQ(got.bytes, eager_bytes);
    EXPECT_EQ(slots_of(got), form == Form::apart ? slots_in_portion(eager_bytes)
                                                 : slots_for(eager_bytes, form == Form::dense));
  }
}

TEST_F(PeerChannel, WideMessagesHavePlacesByRankAndToken) {
  b.state->self = 1;
  for (std::uint32_t token = 0, number = 0; token < wide_tokens; ++token) {
    number = WideUse::behind(number);
    const WideUse use{token, number};
    ASSERT_NE(use.serial(), 0);
    Header header{MessageKind::eager, 5, 0, use.serial(), 7, wide_bytes, 3, Form::dense, false};
    header = unpack_header(pack_header(header, 0), pack_header(header, 1), pack_header(header, 2));
    ASSERT_TRUE(is_wide(header));
    ASSERT_EQ(header.bytes, wide_bytes);
    ASSERT_EQ(header.form, Form::dense);
    const std::uint32_t place = device::take_place_for(*b.state, header, owned_channel(0));
    EXPECT_EQ(place, first_wide_kept + token);
    EXPECT_EQ(device::kept_memory(*b.state, place),
              device::kept_memory(*b.state, first_wide_kept) + std::size_t(token) * wide_bytes);
    b.state->kept[place].channel = owned_channel(0);
    b.state->kept[place].header = header;
    EXPECT_EQ(*token_at(a.state->acks, 1, token), 0u);
    device::give_place(*b.state, place);
    EXPECT_EQ(*token_at(a.state->acks, 1, token), number);
  }
  EXPECT_EQ(device::kept_memory(*b.state, first_wide_kept + 2 * wide_tokens - 1) + wide_bytes,
            b.kept.data() + b.kept.size());
  // What one block sends takes the places of all ranks.
  const Header eager{MessageKind::eager, 5, 0, 0, 7, eager_bytes, 3, Form::dense, false};
  EXPECT_FALSE(is_wide(eager));
  EXPECT_LT(device::take_place_for(*b.state, eager, 0), first_wide_kept);
}

TEST(WideUse, NumbersComeBackWithoutZero) {
  std::uint32_t number = 0;
  for (std::uint32_t i = 1; i < 1u << WideUse::number_bits; ++i)
    ASSERT_EQ(number = WideUse::behind(number), i);
  EXPECT_EQ(WideUse::behind(number), 1u);
  const WideUse use = WideUse::of(WideUse{wide_tokens - 1, number}.serial());
  EXPECT_EQ(use.token, wide_tokens - 1);
  EXPECT_EQ(use.number, number);
}

TEST_F(PeerChannel, carries_any_length_from_and_to_any_address_across_the_rings_end) {
  std::vector<unsigned char> from(eager_bytes + 64), to(eager_bytes + 64);
  std::iota(from.begin(), from.end(), 0);
  a.state->sending[1].next = channel_slots - 3; // and once around
  unsigned long long next = channel_slots - 3;
  for (std::uint32_t bytes = 0; bytes <= eager_bytes; bytes += bytes < 40 ? 1 : bytes / 3) {
    std::uint32_t shift = bytes % 9, size = bytes % 5 + 1;
    std::fill(to.begin(), to.end(), 0xee);
    Transfer t = outgoing(from.data() + shift, bytes, 1, MessageKind::eager);
    ASSERT_EQ(t.first, next);
    for (std::uint32_t rank = 0; rank < size; ++rank)
      device::write_share(t, 0, slots_for(bytes), rank, size);
    Header header = device::read_header(*b.state, 0, next);
    ASSERT_EQ(header.bytes, bytes);
    unsigned char *at = to.data() + (bytes % 7);
    read({b.state->channels[0].in, b.state->channels[0].in_freed, next, at, bytes, header}, size);
    ASSERT_TRUE(std::equal(at, at + bytes, from.data() + shift)) << bytes;
    ASSERT_EQ(at[bytes], 0xee) << "beyond " << bytes;
    next += slots_for(bytes);
  }
  EXPECT_GT(next, channel_slots); // it has been around
}

TEST_F(PeerChannel, rows_are_what_others_write_and_read_across_the_rings_end) {
  constexpr std::uint32_t most = device::rows_bytes;
  alignas(8) unsigned char from[most + 8], to[most + 8];
  std::iota(std::begin(from), std::end(from), 0);
  for (unsigned long long first : {0u, channel_slots - 2, channel_slots - 1, channel_slots})
    for (std::uint32_t bytes = device::warp_bytes + 8; bytes <= most; bytes += 8)
      for (bool writes : {false, true}) {
        a.state->sending[1].next = first;
        Transfer t = outgoing(from, bytes, 1, MessageKind::eager);
        std::fill(std::begin(to), std::end(to), 0xee);
        std::uint64_t *const in = b.state->channels[0].in;
        for (std::uint32_t packet = 0; packet < 2 * slot_packets; ++packet)
          std::fill_n(packet_at(in, first, packet), packet_words, 0);
        ASSERT_TRUE(device::is_in_rows(from, bytes));
        ASSERT_EQ(device::slots_in_rows(bytes), slots_for(bytes));
        for (std::uint32_t lane = 0; lane < 32 && writes; ++lane)
          device::Rows(t.ring, first, lane)
              .write(lane < header_packets ? pack_header(t.header, lane) : 0, from, bytes);
        if (!writes)
          device::write_share(t, 0, slots_for(bytes), 0, 1);
        Header header = device::read_header(*b.state, 0, first);
        ASSERT_EQ(header.bytes, bytes);
        if (writes)
          read({in, b.state->channels[0].in_freed, first, to, bytes, header}, 1);
        for (std::uint32_t lane = 0; lane < 32 && !writes; ++lane) {
          const device::Rows rows(in, first, lane);
          device::Packet found[device::row_count];
          rows.look(found);
          ASSERT_TRUE(rows.are_there(found, bytes)) << bytes << " bytes, lane " << lane;
          rows.store(found, to, bytes);
        }
        ASSERT_TRUE(std::equal(to, to + bytes, from)) << bytes << " bytes at slot " << first;
        ASSERT_EQ(to[bytes], 0xee) << "beyond " << bytes;
      }
}

TEST_F(PeerChannel, rows_are_not_there_before_the_last_packet_is) {
  std::uint64_t *const in = b.state->channels[0].in;
  const std::uint64_t data[128] = {1};
  for (std::uint32_t missing = 0; missing < 32; ++missing) {
    std::fill_n(in, slot_packets * packet_words, 0);
    for (std::uint32_t lane = 0; lane < 32; ++lane)
      if (lane != missing)
        device::Rows(a.state->channels[1].out, 0, lane).write(lane < 3, data, 1000);
    device::Packet found[device::row_count];
    bool all = true;
    for (std::uint32_t lane = 0; lane < 32; ++lane) {
      const device::Rows rows(in, 0, lane);
      rows.look(found);
      all = all && rows.are_there(found, 1000);
    }
    ASSERT_FALSE(all) << "without lane " << missing;
  }
}

TEST_F(PeerChannel, drops_what_a_buffer_has_no_room_for) {
  std::vector<unsigned char> from(3000, 7), to(3000, 0xee);
  unsigned long long first = send(from.data(), from.size(), 1);
  Header header = device::read_header(*b.state, 0, first);
  read({b.state->channels[0].in, b.state->channels[0].in_freed, first, to.data(), 1001, header}, 3);
  EXPECT_EQ(std::count(to.begin(), to.end(), 7), 1001);
  EXPECT_EQ(to[1001], 0xee);
}

TEST_F(PeerChannel, plain_portions_carry_any_length_and_leave_nothing_that_looks_like_a_packet) {
  constexpr std::uint32_t most = 4 * plain_bytes + 64;
  std::vector<std::uint32_t> words(most / 4 + 16);
  std::vector<unsigned char> to(most + 64);
  unsigned long long next = channel_slots - 20; // and across the ring's end
  a.state->sending[1].next = next;
  std::uint32_t message = 0;
  for (std::uint32_t portions = 0; portions <= 4; ++portions)
    for (std::int32_t off = -40; off <= 40; off += off < -33 || off > 30 ? 1 : 3, ++message) {
      if (portions == 0 && off <= 0)
        continue;
      const std::uint32_t bytes = portions * plain_bytes + off, size = message % 5 + 1;
      // What lies in the ring then looks as if all packets had been written in the next lap.
      for (std::uint32_t i = 0; i < words.size(); ++i)
        words[i] = i % 7 == 0 ? i : lap_of(next) + 1;
      const unsigned char *from = reinterpret_cast<unsigned char *>(words.data()) + message % 3 * 4;
      const Transfer t = outgoing(from, bytes, 1, MessageKind::data, Form::plain);
      ASSERT_EQ(t.first, next);
      const unsigned long long slots = carried_slots(t.header);
      for (unsigned long long low = 0; low < slots; low += portion_slots)
        for (std::uint32_t rank = 0; rank < size; ++rank)
          device::write_portion(t, device::Portion(t, low), rank, size);
      for (unsigned long long low = 0; low < slots; low += portion_slots)
        ASSERT_FALSE(device::has_message(*b.state, 0, next + low)) << "before it is told";
      for (std::uint32_t rank = size; rank-- > 0;)
        device::tell_portions(t, 0, slots, rank, size);
      Header header = device::read_header(*b.state, 0, next);
      ASSERT_EQ(header.bytes, bytes);
      ASSERT_EQ(header.kind, MessageKind::data);
      header.form = Form::plain;
      std::fill(to.begin(), to.end(), 0xee);
      const std::uint32_t room = message % 4 == 3 ? bytes / 2 : bytes;
      unsigned char *at = to.data() + (message % 2 == 0 ? 0 : message % 5);
      const Transfer in{
          b.state->channels[0].in, b.state->channels[0].in_freed, next, at, room, header};
      for (std::uint32_t rank = 0; rank < size; ++rank)
        device::acquire_portions(in, 0, slots, rank, size);
      for (unsigned long long low = 0; low < slots; low += portion_slots)
        for (std::uint32_t rank = 0; rank < size; ++rank)
          device::read_portion(in, device::Portion(in, low), rank, size);
      ASSERT_TRUE(std::equal(at, at + room, from)) << bytes;
      ASSERT_EQ(at[room], 0xee) << "beyond " << room << " of " << bytes;
      for (std::uint32_t rank = 0; rank < size; ++rank)
        device::free_share(in.freed, next, next + slots, rank, size);
      ASSERT_TRUE(device::are_free(a.state->channels[1].out_freed, next + channel_slots,
                                   next + channel_slots + slots));
      for (unsigned long long slot = next; slot < next + slots; ++slot)
        for (std::uint32_t p = 0; p < slot_packets; ++p)
          ASSERT_FALSE(device::Packet::load(packet_at(in.ring, slot, p)).shows(lap_of(slot) + 1))
              << "packet " << p << " of slot " << slot << " of " << bytes << " bytes";
      next += slots;
    }
  EXPECT_GT(next, 2 * channel_slots); // more than once around
}

TEST_F(PeerChannel, data_goes_in_plain_portions_where_both_ranks_are_on_one_host) {
  std::vector<unsigned char> data(5 * plain_bytes, 3);
  b.state->near_peers = 2;
  const Transfer t = outgoing(data.data(), data.size(), 17, MessageKind::data, Form::plain);
  device::write_portion(t, device::Portion(t, 0), 0, 1);
  device::tell_portions(t, 0, portion_slots, 0, 1);
  Request &request = post(17, 4);
  request.header = t.header;
  request.header.kind = MessageKind::announced;
  device::Work work{};
  const Header header = device::read_header(*b.state, 0, t.first);
  EXPECT_EQ(device::take_message(*b.state, 0, header, t.first, work), t.first + 5 * portion_slots);
  EXPECT_EQ(request.header.kind, MessageKind::data);
  EXPECT_EQ(request.header.form, Form::plain);
  EXPECT_EQ(device::state_of(request), RequestState::receiving);
}

TEST_F(PeerChannel, slots_are_free_once_the_receiver_has_freed_them_in_this_lap) {
  const std::uint32_t *freed = a.state->channels[1].out_freed;
  std::uint32_t *frees = b.state->channels[0].in_freed;
  ASSERT_EQ(freed, frees);
  EXPECT_TRUE(device::find_free(*a.state, 1, channel_slots));
  EXPECT_FALSE(device::find_free(*a.state, 1, channel_slots + 1));
  device::free_share(frees, 1, 3, 0, 1); // not the first
  EXPECT_FALSE(device::find_free(*a.state, 1, channel_slots + 1));
  EXPECT_TRUE(device::are_free(freed, channel_slots + 1, channel_slots + 3));
  EXPECT_FALSE(device::are_free(freed, channel_slots + 1, channel_slots + 4));
  device::free_share(frees, 0, 1, 0, 1);
  EXPECT_TRUE(device::find_free(*a.state, 1, channel_slots + 3));
  EXPECT_EQ(a.state->sending[1].free_until, channel_slots + 3u);
  EXPECT_FALSE(device::are_free(freed, 2 * channel_slots, 2 * channel_slots + 1)); // the next lap
}

TEST_F(PeerChannel, a_warp_finds_as_many_free_slots_as_there_are) {
  State &state = *a.state;
  Line &line = state.sending[1];
  std::uint32_t *const frees = b.state->channels[0].in_freed;
  std::minstd_rand random(7);
  unsigned long long known = channel_slots, freed = channel_slots; // all before are free
  std::set<unsigned long long> behind;                             // one that is not
  const auto free = [&](unsigned long long slot) {
    device::free_share(frees, slot - channel_slots, slot - channel_slots + 1, 0, 1);
    behind.insert(slot);
    while (behind.erase(freed) != 0)
      ++freed;
  };
  for (int round = 0; round < 300; ++round) {
    const auto up_to = [&](std::uint32_t n) { return random() % n; };
    for (std::uint32_t more = up_to(round % 3 == 0 ? channel_slots : 300); more != 0; --more)
      if (freed < known + channel_slots)
        free(freed);
    if (round % 4 == 0 && freed + 2 < known + channel_slots)
      free(freed + 2);
    const unsigned long long end = known + up_to(round % 2 == 0 ? 2 * channel_slots : 200);
    bool all_alike = true, found = false;
    run({1, 32}, [&] {
      const std::uint32_t lane = threadIdx.x;
      const bool its = device::find_free_as_warp(state, 1, end, lane);
      const unsigned those = __ballot_sync(0xffffffffu, its);
      if (lane == 0)
        all_alike = those == 0 || those == 0xffffffffu, found = its;
    });
    ASSERT_TRUE(all_alike);
    ASSERT_EQ(found, end <= freed) << "round " << round;
    ASSERT_GE(line.free_until, std::min(end, freed)) << "round " << round;
    ASSERT_LE(line.free_until, freed) << "round " << round;
    known = line.free_until;
  }
  EXPECT_GT(freed, 20 * channel_slots); // it has been around often
}

TEST_F(PeerChannel, a_message_goes_to_the_earliest_receive_that_it_matches) {
  int data = 9;
  post(300, 4);
  post(301, MPI_ANY_TAG, any_source);
  post(302, 3);
  send(&data, sizeof(data), 3); // the wildcard's: it was posted before
  unsigned long long second = send(&data, sizeof(data), 3);
  EXPECT_EQ(device::look_into_channels(*b.state).kind, WorkKind::none);
  EXPECT_EQ(device::state_of(b.state->requests[300]), RequestState::posted);
  EXPECT_EQ(device::state_of(b.state->requests[301]), RequestState::receiving);
  EXPECT_EQ(b.state->requests[301].first, 0u);
  EXPECT_EQ(device::state_of(b.state->requests[302]), RequestState::receiving);
  EXPECT_EQ(b.state->requests[302].first, second);
  EXPECT_EQ(b.state->summary.posted, 1u);
  EXPECT_EQ(b.state->summary.active, 2u);
  EXPECT_EQ(b.state->posted_any_tag.first, nothing);
}

TEST_F(PeerChannel, what_is_in_the_ring_goes_before_what_is_posted_later) {
  int data = 9;
  b.state->posts.next = b.state->posts.first = 0xffffffff; // numbers wrap
  post_receive_into_ring(*b.state, 300, 3, 0);
  post_receive_into_ring(*b.state, 301, MPI_ANY_TAG, any_source);
  post_receive_into_ring(*b.state, 302, 3, 0);
  device::list_posts(*b.state);
  post(303, 3);
  for (int i = 0; i < 3; ++i)
    send(&data, sizeof(data), 3);
  EXPECT_EQ(device::look_into_channels(*b.state).kind, WorkKind::none);
  for (std::uint32_t i = 0; i < 3; ++i)
    EXPECT_EQ(b.state->requests[300 + i].first, i);
  EXPECT_EQ(device::state_of(b.state->requests[303]), RequestState::posted);
  EXPECT_EQ(b.state->posts.first, b.state->posts.next);
  EXPECT_EQ(b.state->in_lists, 1u);
}

TEST_F(PeerChannel, what_has_left_the_ring_is_not_put_into_lists) {
  for (std::uint32_t i = 0; i < 5; ++i)
    post_receive_into_ring(*b.state, 300 + i, 3, 0);
  b.state->posts.gone = 0b01010; // 301 and 303 have been given theirs
  device::list_posts(*b.state, 4);
  EXPECT_EQ(b.state->in_lists, 2u);
  EXPECT_EQ(b.state->posts.first, 4u);
  EXPECT_EQ(b.state->posts.gone, 0u);
  device::list_posts(*b.state);
  EXPECT_EQ(b.state->in_lists, 3u);
  Header header{};
  header.context = b.state->comms[0].context;
  header.tag = 3;
  for (const std::uint32_t index : {300u, 302u, 304u, nothing})
    EXPECT_EQ(device::take_posted(*b.state, header, 0), index);
  EXPECT_EQ(b.state->in_lists, 0u);
}

/// Who posts into the ring has seen that nothing is kept; by then something may be.
TEST_F(PeerChannel, a_receive_of_the_ring_gets_what_has_been_kept_meanwhile) {
  std::vector<unsigned char> data(3000), got(3000, 0xee);
  std::iota(data.begin(), data.end(), static_cast<unsigned char>(1));
  send(data.data(), data.size(), 7);
  ASSERT_TRUE(device::try_lock(*b.state));
  const device::Work work = device::look_into_channels(*b.state);
  ASSERT_EQ(work.kind, WorkKind::keep);
  const Kept &kept = b.state->kept[work.index];
  std::copy(data.begin(), data.end(), device::kept_memory(*b.state, work.index));
  EXPECT_EQ(kept.header.bytes, data.size());
  device::end_keeping(*b.state, work.index);

  Request &request = post_receive_into_ring(*b.state, 300, 7, 0);
  request.data = got.data();
  request.room = 2999;
  EXPECT_EQ(device::look_at_messages(*b.state, b.state->summary).kind, WorkKind::none);
  EXPECT_EQ(device::state_of(request), RequestState::done);
  EXPECT_EQ(request.header.bytes, data.size()); // more than there is room for, says whoever waits
  EXPECT_TRUE(std::equal(data.begin(), data.end() - 1, got.begin()));
  EXPECT_EQ(got.back(), 0xee);
  EXPECT_EQ(b.state->summary.posted + b.state->summary.kept, 0u);
  EXPECT_TRUE(device::try_lock(*b.state)) << "the lock has been given back";
}

/// Of receives and messages that differ in tag and source, by number of the step: wildcards or not.
TEST_F(PeerChannel, thousands_match_as_a_single_list_would) {
  std::minstd_rand random(7);
  struct Known {
    std::uint32_t index;
    device::Wanted wanted;
    Header header;
  };
  std::vector<Known> posted, kept; // in order
  std::uint32_t next_request = 0;
  for (int step = 0; step < 3000; ++step) {
    Header header{};
    header.context = b.state->comms[0].context;
    header.tag = static_cast<std::int32_t>(random() % 200);
    const device::Wanted wanted{header.context, random() % 2 ? any_source : 0,
                                random() % 10 == 0 ? MPI_ANY_TAG : header.tag};
    const auto index_of = [](const std::vector<Known> &list, std::size_t at) {
      return at < list.size() ? list[at].index : nothing;
    };
    if (random() % 2) { // a message
      std::size_t at = 0;
      while (at < posted.size() && !posted[at].wanted.is(header, 0))
        ++at;
      ASSERT_EQ(device::take_posted(*b.state, header, 0), index_of(posted, at)) << step;
      if (at < posted.size()) {
        posted.erase(posted.begin() + static_cast<std::ptrdiff_t>(at));
        continue;
      }
      const std::uint32_t place = device::take_place(*b.state, 0);
      ASSERT_NE(place, nothing);
      b.state->kept[place].header = header;
      b.state->kept[place].channel = 0;
      device::append_kept(*b.state, place);
      kept.push_back({place, {}, header});
    } else {
      std::size_t at = 0;
      while (at < kept.size() && !wanted.is(kept[at].header, 0))
        ++at;
      ASSERT_EQ(device::find_kept(*b.state, wanted).index, index_of(kept, at)) << step;
      ASSERT_EQ(device::take_kept(*b.state, wanted, false), index_of(kept, at)) << step;
      if (at < kept.size()) {
        device::give_place(*b.state, kept[at].index);
        kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(at));
        continue;
      }
      Request &request = b.state->requests[next_request];
      request.context = wanted.context;
      request.peer = wanted.peer;
      request.tag = wanted.tag;
      device::append_posted(*b.state, next_request);
      posted.push_back({next_request, wanted, {}});
      next_request = (next_request + 1) % max_requests;
      ASSERT_LT(posted.size(), max_requests);
    }
  }
  EXPECT_GT(kept.size() + posted.size(), 10u);
}

TEST_F(PeerChannel, another_communicators_message_is_not_taken) {
  int data = 9;
  post(300, 3);
  b.state->requests[300].context = 6;
  send(&data, 0, 3);
  device::look_into_channels(*b.state);
  EXPECT_EQ(device::state_of(b.state->requests[300]), RequestState::posted);
  EXPECT_EQ(b.state->summary.kept, 1u);
}

TEST_F(PeerChannel, what_nobody_waits_for_is_kept_in_order) {
  std::vector<unsigned char> data(2000, 1);
  send(data.data(), 0, 7);
  send(data.data(), data.size(), 7);
  ASSERT_TRUE(device::try_lock(*b.state));
  device::Work work = device::look_into_channels(*b.state);
  ASSERT_EQ(work.kind, WorkKind::keep); // its data is to be read, the lock held meanwhile
  EXPECT_GE(work.index, small_kept);    // too long for the small places
  EXPECT_FALSE(device::try_lock(*b.state));
  device::end_keeping(*b.state, work.index);
  ASSERT_TRUE(device::try_lock(*b.state));
  EXPECT_EQ(b.state->summary.kept, 2u);
  Request wanted{};
  wanted.context = b.state->comms[0].context;
  wanted.peer = any_source;
  wanted.tag = 7;
  std::uint32_t first = device::take_kept(*b.state, device::wanted_by(wanted), false);
  EXPECT_EQ(b.state->kept[first].header.bytes, 0u);
  EXPECT_EQ(device::take_kept(*b.state, device::wanted_by(wanted), false), work.index);
  EXPECT_EQ(device::take_kept(*b.state, device::wanted_by(wanted), false), nothing);
  EXPECT_EQ(b.state->receiving[0].next,
            1 + slots_for(data.size())); // and the channel is free again
}

TEST_F(PeerChannel, a_message_that_finds_no_place_stays_in_its_channel) {
  b.state->free_small = nothing;
  int data = 9;
  send(&data, 0, 7);
  device::look_into_channels(*b.state);
  EXPECT_EQ(b.state->receiving[0].next, 0u);
  EXPECT_EQ(b.state->summary.kept, 0u);
  post(300, 7);
  device::look_into_channels(*b.state);
  EXPECT_EQ(device::state_of(b.state->requests[300]), RequestState::receiving);
}

TEST_F(PeerChannel, an_announced_message_that_is_to_be_streamed_is_left_to_the_grid_that_waits) {
  std::vector<unsigned char> data(100000, 3);
  Header header{MessageKind::announced, 5, 400, 77, 7, data.size(), 0, Form::packets, true};
  Request &request = a.state->requests[400];
  request.sends = 1;
  request.peer = request.channel = 1;
  request.header = header;
  request.serial = 77;
  device::note_state(request, RequestState::awaiting_match);
  EXPECT_FALSE(device::is_done(*a.state, 400, device::Glance(*a.state, 400)));
  EXPECT_FALSE(device::try_carry_on(*a.state, 400, 400));
  device::answer_to_stream(*b.state, 0, header, 12);
  EXPECT_TRUE(device::is_done(*a.state, 400, device::Glance(*a.state, 400)));
  // Whoever looks for work makes nothing of it.
  EXPECT_FALSE(device::try_carry_on(*a.state, 400, 400));
  Step step;
  device::begin_step(*a.state, 400, step);
  EXPECT_EQ(step.kind, Step::none);
  EXPECT_EQ(device::state_of(request), RequestState::awaiting_match);
  EXPECT_EQ(
      device::await_packet(device::ack_of(*a.state, 400, 0) + packet_words, lap_of_serial(77)),
      12u);
}

TEST_F(PeerChannel, an_announced_message_is_acknowledged_and_its_data_finds_the_request) {
  std::vector<unsigned char> data(100000, 3);
  Transfer t = outgoing(data.data(), data.size(), 7, MessageKind::announced);
  t.header.request = 400;
  t.header.serial = 77;
  device::write_share(t, 0, 1, 0, 1);
  post(300, 7);
  device::look_into_channels(*b.state);
  EXPECT_EQ(device::state_of(b.state->requests[300]), RequestState::awaiting_data);
  EXPECT_EQ(b.state->summary.posted, 1u); // it still waits for what comes through the channel
  device::Packet ack = device::Packet::load(device::ack_of(*a.state, 400, 0));
  ASSERT_TRUE(ack.shows(lap_of_serial(77)));
  const Match match = unpack_match(ack.data());
  EXPECT_EQ(match.request, 300u);
  EXPECT_EQ(match.number, 0u); // nothing is said of where the data belongs
  EXPECT_TRUE(device::are_free(a.state->channels[1].out_freed, channel_slots, channel_slots + 1));

  Header header{MessageKind::data, 5,    0, 0, static_cast<int>(match.request), data.size(), 0,
                Form::packets,     false};
  unsigned long long first = device::take_slots(*a.state, 1, device::slots_of(header)).first;
  device::write_share({a.state->channels[1].out, nullptr, first, data.data(), data.size(), header},
                      0, device::slots_of(header), 0, 1);
  device::look_into_channels(*b.state);
  EXPECT_EQ(device::state_of(b.state->requests[300]), RequestState::receiving);
  EXPECT_EQ(b.state->requests[300].first, first);
  EXPECT_EQ(b.state->requests[300].header.tag, 7);
  EXPECT_EQ(b.state->summary.posted, 0u);
}

TEST_F(PeerChannel, an_announced_message_may_be_stored_where_the_receive_says) {
  Transfer t = outgoing(nullptr, 100000, 7, MessageKind::announced);
  t.header.request = 400;
  t.header.serial = 77;
  device::write_share(t, 0, 1, 0, 1);
  Request &request = post(300, 7);
  request.room = 100000;
  request.serial = 65535;
  request.offer = {0, 0, 63, 1u << 31};
  request.offset = (1ull << 40) + 5;
  device::look_into_channels(*b.state);
  device::Packet ack = device::Packet::load(device::ack_of(*a.state, 400, 0));
  const Match match = unpack_match(ack.data());
  EXPECT_EQ(match.request, 300u);
  EXPECT_EQ(match.serial, 65535u);
  EXPECT_EQ(match.place, 63u);
  EXPECT_EQ(match.number, 1u << 31);
  device::Packet offset = device::Packet::load(device::ack_of(*a.state, 400, 0) + packet_words);
  ASSERT_TRUE(offset.shows(lap_of_serial(77)));
  EXPECT_EQ(offset.data(), (1ull << 40) + 5);

  std::uint64_t *landed = device::landed_at(a.state->peer_acks[1], 300);
  auto is_done = [&] { return device::is_done(*b.state, 300, device::Glance(*b.state, 300)); };
  EXPECT_FALSE(is_done());
  device::store_packet(landed, 0, lap_of_serial(65534)); // an earlier request's
  EXPECT_FALSE(is_done());
  EXPECT_EQ(b.state->summary.posted, 1u);
  device::store_packet(landed, 0, lap_of_serial(match.serial));
  EXPECT_TRUE(is_done());
  EXPECT_TRUE(is_done());
  EXPECT_EQ(b.state->summary.posted, 0u);
}

TEST_F(PeerChannel, a_receive_that_is_too_small_does_not_say_where) {
  Transfer t = outgoing(nullptr, 100000, 7, MessageKind::announced);
  t.header.request = 400;
  device::write_share(t, 0, 1, 0, 1);
  Request &request = post(300, 7);
  request.room = 99999;
  request.offer = {0, 0, 1, 2};
  device::look_into_channels(*b.state);
  EXPECT_EQ(unpack_match(device::Packet::load(device::ack_of(*a.state, 400, 0)).data()).number, 0u);
}

TEST_F(PeerChannel, who_looks_for_work_mostly_leaves_the_lock_to_those_who_wait_for_it) {
  ASSERT_TRUE(device::try_lock(*b.state));
  std::thread waiting([&] {
    device::lock(*b.state);
    device::unlock(*b.state);
  });
  while (gmpi::device::load_relaxed_device(&b.state->wanted) == 0)
    std::this_thread::yield();
  __atomic_store_n(&b.state->wanted, 2, __ATOMIC_RELEASE); // and another, not there yet
  device::unlock(*b.state);
  waiting.join();
  int taken = 0, refused = 0;
  while (taken < 100) {
    const bool got = device::try_lock(*b.state);
    ++(got ? taken : refused);
    if (got)
      device::unlock(*b.state);
  }
  EXPECT_GT(refused, taken);
  b.state->wanted = 0;
  EXPECT_TRUE(device::try_lock(*b.state));
}

/// The tags of what b keeps, in order.
std::vector<int> kept_tags(const State &state) {
  std::map<std::uint32_t, int> tags; // by number
  for (const MatchList &list : state.kept_lists)
    for (std::uint32_t i = list.first; i != nothing; i = state.kept[i].next)
      tags[state.kept[i].number] = state.kept[i].header.tag;
  std::vector<int> in_order;
  for (const auto &[number, tag] : tags)
    in_order.push_back(tag);
  return in_order;
}

TEST_F(PeerChannel, messages_keep_their_order_across_both_channels) {
  a.state->sending[1].next = 0;
  send_owned(0, owned_after());
  send(nullptr, 0, 1);
  send(nullptr, 0, 2);
  send_owned(3, owned_after());
  send_owned(4, owned_after());
  send(nullptr, 0, 5);
  device::look_into_channels(*b.state);
  EXPECT_EQ(kept_tags(*b.state), (std::vector<int>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(common_of(b.state->receiving[0].next), 3u);
  EXPECT_EQ(owned_of(b.state->receiving[0].next), 3u);
  EXPECT_EQ(b.state->receiving[owned_channel(0)].next, 3u);
}

TEST_F(PeerChannel, a_message_waits_for_those_before_it_in_the_other_channel) {
  Transfer late = outgoing(nullptr, 0, 1, MessageKind::eager); // taken, not written yet
  send_owned(2, owned_after());
  device::look_into_channels(*b.state);
  EXPECT_TRUE(kept_tags(*b.state).empty());
  device::write_share(late, 0, 1, 0, 1);
  device::look_into_channels(*b.state);
  EXPECT_EQ(kept_tags(*b.state), (std::vector<int>{1, 2}));

  a.state->sending[1].next += one_owned; // an owned one is counted, and on its way
  send(nullptr, 0, 4);
  device::look_into_channels(*b.state);
  EXPECT_EQ(kept_tags(*b.state), (std::vector<int>{1, 2}));
  a.state->sending[1].next -= one_owned;
  send_owned(3, owned_after() - 1);
  device::look_into_channels(*b.state);
  EXPECT_EQ(kept_tags(*b.state), (std::vector<int>{1, 2, 3, 4}));
}

TEST_F(PeerChannel, both_channels_wait_for_none_that_was_taken_later) {
  unsigned long long before = owned_after(); // the owner looks, and is slow
  send(nullptr, 0, 1);
  device::look_into_channels(*b.state);
  send_owned(2, before);
  device::look_into_channels(*b.state);
  EXPECT_EQ(kept_tags(*b.state), (std::vector<int>{1, 2}));
}

TEST_F(PeerChannel, order_is_kept_beyond_what_the_word_holds_of_the_owned_channel) {
  const unsigned long long many = (1ull << owned_bits) - 2;
  a.state->sending[owned_channel(1)].next = b.state->receiving[owned_channel(0)].next = many;
  a.state->sending[1].next = b.state->receiving[0].next = both_of(7, many);
  for (int tag = 0; tag < 6; tag += 2) {
    send_owned(tag, owned_after());
    send(nullptr, 0, tag + 1);
  }
  device::look_into_channels(*b.state);
  EXPECT_EQ(kept_tags(*b.state), (std::vector<int>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(b.state->receiving[owned_channel(0)].next, many + 3);
  EXPECT_EQ(b.state->receiving[0].next & locked, 0u);
}

TEST_F(PeerChannel, how_far_the_owned_channel_is_may_be_seen_late) {
  b.state->receiving[0].next = both_of(7, 100);
  b.state->receiving[owned_channel(0)].next = 97;
  device::Position at = device::position_of(*b.state, 0, b.state->receiving[0].next);
  EXPECT_EQ(at.common, 7u);
  EXPECT_EQ(at.owned, 100u);
}

TEST_F(PeerChannel, a_channel_has_one_owner_who_hands_it_on_as_it_is) {
  // As the host tells device code of datatypes.
  gmpi::DatatypeEntry &entry = gmpi::device::context.datatypes[gmpi::datatype_hash(MPI_INT)];
  entry = {MPI_INT, sizeof(int), sizeof(int), gmpi::Number::int32};
  Comm comm{};
  comm.handle = MPI_COMM_WORLD;
  comm.context = 5;
  comm.peer_of[0] = comm.peer_of[8] = 1; // as ranks of different communicators may be
  Routes first{}, second{};
  device::own_channel<gmpi::Scope::block>(*a.state, first, 0, comm, 0, MPI_INT);
  EXPECT_EQ(first.owned, 1u);
  EXPECT_EQ(first.route[0].extent, sizeof(int));
  EXPECT_EQ(first.route[0].free_until, channel_slots);
  first.route[0].next = 12;
  device::own_channel<gmpi::Scope::block>(*a.state, second, 0, comm, 0, MPI_INT);
  EXPECT_EQ(second.owned, 0u);
  EXPECT_EQ(second.refused, 1u);
  EXPECT_EQ(second.route[0].comm, MPI_Comm{});
  comm.peer_of[8] = 0;
  // The same route, another rank.
  device::own_channel<gmpi::Scope::block>(*a.state, first, 0, comm, 8, MPI_INT);
  EXPECT_EQ(first.channel[0], owned_channel(0));
  EXPECT_EQ(a.state->sending[owned_channel(1)].next, 12u);
  device::own_channel<gmpi::Scope::block>(*a.state, second, 0, comm, 0, MPI_INT);
  EXPECT_EQ(second.owned, 1u);
  EXPECT_EQ(second.route[0].next, 12u);
  device::give_all_up(*a.state, first);
  device::give_all_up(*a.state, second);
  EXPECT_EQ(a.state->owner[0] + a.state->owner[1], 0u);
  EXPECT_EQ(second.owned, 0u);
}

TEST_F(PeerChannel, one_at_a_time_carries_a_request_on) {
  int data = 9;
  post(300, 7);
  send(&data, sizeof(data), 7);
  device::look_into_channels(*b.state);
  device::Work work = device::look_for_active(*b.state, nothing);
  ASSERT_EQ(work.kind, WorkKind::carry_on);
  EXPECT_EQ(work.index, 300u);
  EXPECT_EQ(device::look_for_active(*b.state, nothing).kind, WorkKind::none); // it is held
  device::let_go(b.state->requests[300]);
  b.state->requests[300].own = 1; // its data lies where others cannot reach it
  EXPECT_EQ(device::look_for_active(*b.state, nothing).kind, WorkKind::none);
  EXPECT_EQ(device::look_for_active(*b.state, 300).kind, WorkKind::carry_on);
}

} // namespace
