// Links between ranks on different hosts: two ranks' State and page-locked memory in one process,
// their kernels' part and the relay's played by one thread.
#include "peer/channel/portions_device.hpp"
#include "peer/general/progress_device.hpp"
#include "peer/matching/matching_device.hpp"
#include "peer/relay/relay_link.hpp"
#include "peer/relay/relay_rounds.hpp"
#include "posted_receive.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <numeric>
#include <vector>

namespace {

using namespace gmpi::peer;
namespace device = gmpi::device::peer;

struct Rank {
  std::vector<std::uint64_t> memory = std::vector<std::uint64_t>(RelayLink::bytes() / 8);
  std::vector<std::uint64_t> acks = std::vector<std::uint64_t>(Shared::acks_bytes / 8);
  std::vector<std::uint64_t> far_acks = acks;
  std::uint64_t news = 0;
  std::vector<unsigned char> kept = std::vector<unsigned char>(kept_bytes(2));
  std::unique_ptr<State> state{new State{}};
  RelayLink link{reinterpret_cast<unsigned char *>(memory.data()), far_acks.data(), &news};
  RelayOutbox outbox;

  Rank() {
    State &s = *state;
    s.peers = 2; // number 0 would be this rank itself
    s.near_peers = 1;
    empty_lists(s);
    s.acks = acks.data();
    s.far_acks = far_acks.data();
    s.far_news = &news;
    s.kept_data = kept.data();
    for (Line &line : s.sending)
      line.free_until = channel_slots;
    s.comms[0].context = 5;
    for (bool owned : {false, true})
      s.channels[owned ? owned_channel(1) : 1] = link.channel(owned);
    s.channels[place_channel(1)] = link.places();
    s.peer_acks[1] = link.acks();
  }
};

struct RelayBetween : testing::Test {
  Rank a, b;

  /// A run's message of MPI's, to b, and what it brings is delivered with.
  struct Run {
    RelayRun to;
    RelayRecord record;
    std::vector<std::uint64_t> header;
    bool is_last;
  };
  std::deque<Run> runs;

  /// One look at what `from` has written; how many messages of records it would be.
  int relay(Rank &from, Rank &to) {
    from.link.collect(from.outbox);
    int messages = 0;
    for (RelayMessage message{nullptr}; from.outbox.take(message); ++messages) {
      message.for_each_record([&](const RelayRecord &record, const std::uint64_t *data) {
        if (!has_runs(record))
          return to.link.deliver(record, data);
        for (const RelayRun &run : to.link.runs_of(record, data))
          if (run.bytes != 0)
            runs.push_back({run, record, {data, data + record.count}, false});
        runs.back().is_last = true;
      });
      from.outbox.give_back(std::move(message));
    }
    return messages;
  }
  /// All runs on their way from a to b arrive; how many.
  int bring_runs() {
    int count = 0;
    for (RelayRun from; a.outbox.take_run(RunsOf::channel, from); ++count) {
      const Run run = std::move(runs.front());
      runs.pop_front();
      EXPECT_EQ(from.bytes, run.to.bytes);
      EXPECT_EQ(from.first, run.to.first);
      EXPECT_EQ(from.behind, run.to.behind);
      std::copy_n(from.data, from.bytes, run.to.data);
      a.outbox.note_run_sent(RunsOf::channel);
      if (run.is_last)
        b.link.deliver(run.record, run.header.data());
    }
    EXPECT_TRUE(runs.empty());
    return count;
  }
  void write_portions(const Transfer &t, unsigned long long low, unsigned long long high) {
    const unsigned long long each = slots_of_portion(t.header);
    for (; low < high; low += each) {
      device::write_portion(t, device::Portion(t, low), 0, 1);
      device::tell_portions(t, low, std::min(high, low + each), 0, 1);
    }
  }
  void read_portions(unsigned long long first, Header header, unsigned char *to) {
    const Channel &channel = b.state->channels[1];
    EXPECT_EQ(device::read_header(*b.state, 1, first).kind, MessageKind::data);
    const Transfer t{channel.in, channel.in_freed, first, to, header.bytes, header};
    const unsigned long long slots = carried_slots(header);
    for (unsigned long long low = 0; low < slots; low += portion_slots) {
      EXPECT_TRUE(is_there(first + low));
      device::read_portion(t, device::Portion(t, low), 0, 1);
    }
    device::free_share(t.freed, first, first + slots, 0, 1);
  }
  Transfer outgoing(const void *data, unsigned long long bytes, int tag, MessageKind kind,
                    Form form = Form::packets) {
    Header header{kind, 5, 0, 0, tag, bytes, 0, form, false};
    const device::Slots slots = device::take_slots(*a.state, 1, carried_slots(header));
    header.after = slots.after;
    auto *from = static_cast<unsigned char *>(const_cast<void *>(data));
    return {
        a.state->channels[1].out, a.state->channels[1].out_freed, slots.first, from, bytes, header};
  }
  Transfer send(const void *data, unsigned long long bytes, int tag,
                MessageKind kind = MessageKind::eager) {
    Transfer t = outgoing(data, bytes, tag, kind);
    device::write_share(t, 0, slots_of(t.header), 0, 1);
    return t;
  }
  /// b reads what it finds at `first`, and frees it.
  Header receive(unsigned long long first, unsigned char *to) {
    return receive(first, to, eager_bytes, 1);
  }
  /// The same as `size` threads, where there is `room` for so much.
  Header receive(unsigned long long first, unsigned char *to, unsigned long long room,
                 std::uint32_t size) {
    Header header = device::read_header(*b.state, 1, first);
    const Channel &channel = b.state->channels[1];
    Transfer t{channel.in, channel.in_freed, first, to, room, header};
    for (std::uint32_t rank = 0; rank < size; ++rank)
      device::read_share(t, 0, slots_of(header), rank, size);
    device::free_share(t.freed, first, first + slots_of(header), 0, 1);
    return header;
  }
  Request &post(std::uint32_t index, int tag, std::uint32_t from = 1) {
    return post_receive(*b.state, index, tag, from);
  }
  bool is_there(unsigned long long slot) { return device::has_message(*b.state, 1, slot); }
  bool is_free(unsigned long long slot) {
    return device::is_free(a.state->channels[1].out_freed, slot);
  }
};

TEST_F(RelayBetween, any_length_comes_whole_across_the_rings_end) {
  std::vector<unsigned char> from(eager_bytes + 1), to(eager_bytes + 1);
  std::iota(from.begin(), from.end(), 3);
  unsigned long long next = 0;
  for (int turn = 0; next < 2 * channel_slots; ++turn)
    for (std::uint32_t bytes = 0; bytes <= eager_bytes; bytes += bytes < 40 ? 13 : bytes / 2) {
      std::fill(to.begin(), to.end(), 0xee);
      ASSERT_TRUE(device::are_free(a.state->channels[1].out_freed, next, next + slots_for(bytes)));
      ASSERT_EQ(send(from.data(), bytes, turn).first, next);
      EXPECT_FALSE(is_there(next));
      EXPECT_EQ(relay(a, b), 1);
      ASSERT_TRUE(is_there(next));
      EXPECT_EQ(receive(next, to.data()).tag, turn);
      ASSERT_TRUE(std::equal(from.begin(), from.begin() + bytes, to.begin())) << bytes;
      ASSERT_EQ(to[bytes], 0xee);
      EXPECT_EQ(relay(b, a), 1); // what has been freed
      EXPECT_EQ(relay(a, b), 0);
      EXPECT_EQ(relay(b, a), 0);
      next += slots_for(bytes);
    }
}

TEST_F(RelayBetween, data_as_it_is_comes_whole_across_the_rings_end) {
  std::vector<unsigned char> from(eager_bytes + 4), to(eager_bytes + 5);
  std::iota(from.begin(), from.end(), 7);
  unsigned long long next = 0;
  int split = 0;
  for (int turn = 0; next < 2 * channel_slots; ++turn)
    for (std::uint32_t bytes = slot_bytes + 1; bytes <= eager_bytes;
         bytes += bytes / 3 + turn % 9) {
      const std::uint32_t shift = turn % 5, size = turn % 4 + 1;
      Transfer t = outgoing(from.data() + shift, bytes, turn, MessageKind::eager, Form::apart);
      const unsigned long long slots = slots_of(t.header);
      ASSERT_EQ(t.first, next);
      ASSERT_TRUE(device::are_free(a.state->channels[1].out_freed, next, next + slots));
      write_portions(t, 0, slots);
      EXPECT_EQ(relay(a, b), 1);
      for (int more = bring_runs(); more != 0; more = bring_runs())
        relay(a, b);
      ASSERT_TRUE(is_there(next));
      std::fill(to.begin(), to.end(), 0xee);
      const std::uint32_t room = turn % 7 == 6 ? bytes / 2 : bytes;
      const Header header = receive(next, to.data() + turn % 3, room, size);
      EXPECT_EQ(header.tag, turn);
      EXPECT_EQ(header.bytes, bytes);
      EXPECT_EQ(header.kind, MessageKind::eager);
      ASSERT_TRUE(
          std::equal(from.begin() + shift, from.begin() + shift + room, to.begin() + turn % 3))
          << bytes;
      ASSERT_EQ(to[turn % 3 + room], 0xee);
      relay(b, a); // what has been freed
      EXPECT_EQ(relay(a, b), 0);
      split += next / channel_slots != (next + slots - 1) / channel_slots;
      next += slots;
    }
  EXPECT_GE(split, 1);
}

TEST_F(RelayBetween, a_few_KiB_come_with_the_records_and_more_by_themselves) {
  std::vector<unsigned char> data(eager_bytes, 9), to(eager_bytes);
  const Transfer few = outgoing(data.data(), 2000, 1, MessageKind::eager, Form::apart);
  const Transfer more = outgoing(data.data(), 30000, 2, MessageKind::eager, Form::apart);
  write_portions(more, 0, slots_of(more.header));
  EXPECT_EQ(relay(a, b), 0); // it is behind the other
  write_portions(few, 0, slots_of(few.header));
  EXPECT_EQ(relay(a, b), 1);
  EXPECT_TRUE(is_there(few.first));
  EXPECT_FALSE(is_there(more.first)); // its data is on its way
  EXPECT_EQ(bring_runs(), 1);
  EXPECT_TRUE(is_there(more.first));
  EXPECT_EQ(receive(few.first, to.data()).bytes, 2000u);
  EXPECT_EQ(receive(more.first, to.data()).bytes, 30000u);
  EXPECT_EQ(a.link.counts().messages, 2u);
  EXPECT_EQ(a.link.counts().bytes, 32000u);
}

/// Wide messages, from a to b.
struct RelayedPlaces : RelayBetween {
  std::vector<unsigned char> data = std::vector<unsigned char>(far_wide_bytes);
  RelayedPlaces() { std::iota(data.begin(), data.end(), 1); }

  /// As all blocks of a grid do: the data first, and then the header.
  void send_wide(WideUse use, std::uint32_t bytes, int tag) {
    Transfer t = outgoing(data.data() + tag, bytes, tag, MessageKind::eager, Form::apart);
    t.header.serial = use.serial();
    ASSERT_TRUE(is_placed(t.header));
    ASSERT_EQ(slots_of(t.header), 1u);
    const Transfer placed{
        a.state->channels[place_channel(1)].out, nullptr, use.slot(), t.data, t.room, t.header};
    for (std::uint32_t rank = 0; rank < 3; ++rank)
      device::write_portion(placed, device::Portion(placed, 0), rank, 3);
    device::store_header_alone(t.ring, t.first, t.header);
  }
  std::uint32_t returned(std::uint32_t token) const {
    return a.state->channels[place_channel(1)].out_freed[token];
  }
};

TEST_F(RelayedPlaces, a_wide_message_comes_straight_to_its_place_and_is_read_there) {
  std::vector<unsigned char> to(far_wide_bytes + 1);
  const std::uint32_t last = (1u << WideUse::number_bits) - 1;
  int turn = 0;
  for (const std::uint32_t number : {1u, 2u, last, WideUse::behind(last)})
    for (std::uint32_t token = 0; token < far_tokens; ++token, ++turn) {
      const std::uint32_t bytes =
          turn % 2 == 0 ? eager_bytes + 1 + turn : far_wide_bytes - 64 - 16 * turn;
      std::fill(to.begin(), to.end(), 0xee);
      Request &request = post(300, turn);
      request.data = to.data();
      request.room = turn % 3 == 2 ? bytes / 3 : bytes;
      send_wide({token, number}, bytes, turn);
      EXPECT_EQ(relay(a, b), 1);
      EXPECT_FALSE(is_there(turn)); // its data is on its way
      EXPECT_EQ(bring_runs(), 1);
      ASSERT_TRUE(is_there(turn));
      EXPECT_EQ(device::look_into_channels(*b.state).kind, WorkKind::none);
      ASSERT_EQ(device::state_of(request), RequestState::receiving);
      relay(b, a);
      EXPECT_TRUE(is_free(turn + channel_slots)); // its header has been read
      EXPECT_NE(returned(token), number);         // its data has not
      ASSERT_TRUE(device::try_carry_on(*b.state, 300, 300));
      for (bool frees : {false, true})
        for (std::uint32_t rank = 0; rank < 5; ++rank)
          device::read_request(*b.state, 300, frees, rank, 5);
      device::set_done(*b.state, 300);
      const auto room = to.begin() + static_cast<std::ptrdiff_t>(request.room);
      ASSERT_TRUE(std::equal(to.begin(), room, data.begin() + turn));
      ASSERT_EQ(*room, 0xee);
      EXPECT_EQ(relay(b, a), 1);
      EXPECT_EQ(returned(token), number);
      EXPECT_EQ(relay(b, a), 0); // that is told once
    }
  EXPECT_EQ(a.link.counts().messages, unsigned(turn));
}

TEST_F(RelayedPlaces, what_nobody_waits_for_stays_there) {
  for (std::uint32_t token = 0; token < far_tokens; ++token)
    send_wide({token, 1}, eager_bytes + 4, 7);
  send(data.data(), 8, 8); // is behind these
  int runs = 0;
  for (int some = 1; some != 0; runs += some) {
    relay(a, b); // two at a time
    some = bring_runs();
    EXPECT_LE(some, 2);
  }
  EXPECT_EQ(runs, int(far_tokens));
  ASSERT_TRUE(device::try_lock(*b.state));
  const device::Work work = device::look_into_channels(*b.state);
  EXPECT_EQ(work.kind, WorkKind::keep); // the short one's: these have been kept by their headers
  EXPECT_LT(work.index, first_wide_kept);
  device::end_keeping(*b.state, work.index);
  EXPECT_EQ(b.state->summary.kept, far_tokens + 1);
  Request wanted{};
  wanted.context = 5;
  wanted.peer = any_source;
  wanted.tag = 7;
  for (std::uint32_t token = 0; token < far_tokens; ++token) {
    const std::uint32_t place = device::take_kept(*b.state, device::wanted_by(wanted), false);
    ASSERT_EQ(place, first_wide_kept + wide_tokens + token); // in their order
    const unsigned char *const kept = device::kept_memory(*b.state, place);
    EXPECT_EQ(kept, place_at(b.state->channels[place_channel(1)].in, token));
    EXPECT_TRUE(std::equal(kept, kept + eager_bytes + 4, data.begin() + 7));
    relay(b, a);
    EXPECT_EQ(returned(token), 0u);
    device::give_place(*b.state, place);
    relay(b, a);
    EXPECT_EQ(returned(token), 1u);
  }
}

TEST_F(RelayBetween, a_message_goes_out_when_it_is_whole) {
  std::vector<unsigned char> data(10000, 7);
  Transfer t = outgoing(data.data(), data.size(), 1, MessageKind::eager);
  device::write_share(t, 0, slots_of(t.header), 0, 3);
  device::write_share(t, 0, slots_of(t.header), 2, 3);
  EXPECT_EQ(relay(a, b), 0);
  send(nullptr, 0, 2); // it is behind that one
  EXPECT_EQ(relay(a, b), 0);
  device::write_share(t, 0, slots_of(t.header), 1, 3);
  EXPECT_EQ(relay(a, b), 1);
  EXPECT_TRUE(is_there(t.first));
  EXPECT_TRUE(is_there(t.first + slots_of(t.header)));
}

TEST_F(RelayBetween, long_data_comes_by_portions_and_holds_nothing_up_that_is_behind_it) {
  std::vector<unsigned char> data(100000);
  std::iota(data.begin(), data.end(), 0);
  Transfer t = outgoing(data.data(), data.size(), 300, MessageKind::data, Form::apart);
  const unsigned long long slots = carried_slots(t.header);
  write_portions(t, 0, portion_slots);
  send(nullptr, 0, 2);
  relay(a, b);
  EXPECT_FALSE(is_there(t.first)); // its data is on its way
  EXPECT_TRUE(is_there(t.first + slots));
  EXPECT_EQ(bring_runs(), 1);
  EXPECT_TRUE(is_there(t.first));
  EXPECT_FALSE(is_there(t.first + portion_slots));
  write_portions(t, portion_slots, slots);
  relay(a, b);
  EXPECT_EQ(bring_runs(), 1); // all that is there goes together
  std::vector<unsigned char> to(data.size());
  read_portions(t.first, t.header, to.data());
  EXPECT_EQ(data, to);
  EXPECT_EQ(relay(a, b), 0);
  EXPECT_EQ(relay(b, a), 1);
  EXPECT_TRUE(device::are_free(a.state->channels[1].out_freed, channel_slots + t.first,
                               channel_slots + t.first + slots));
}

TEST_F(RelayBetween, long_data_of_any_length_comes_whole_across_the_rings_end) {
  constexpr std::uint32_t most = 20 * plain_bytes + 64;
  std::vector<unsigned char> data(most), to(most + 1);
  std::iota(data.begin(), data.end(), 5);
  int split = 0;
  for (unsigned long long next = 0, turn = 0; next < 2 * channel_slots; ++turn) {
    const auto portions = static_cast<std::uint32_t>(turn % 20 + 1);
    const std::uint32_t bytes = portions * plain_bytes + (turn % 3 == 0 ? 0 : turn % 64);
    Transfer t = outgoing(data.data(), bytes, 300, MessageKind::data, Form::apart);
    const unsigned long long slots = carried_slots(t.header);
    ASSERT_EQ(t.first, next);
    ASSERT_TRUE(device::are_free(a.state->channels[1].out_freed, next, next + slots));
    for (unsigned long long low = 0; low < slots; low += portion_slots * (1 + turn % 5)) {
      write_portions(t, low, std::min(slots, low + portion_slots * (1 + turn % 5)));
      relay(a, b);
    }
    int runs = 0;
    for (int some; (some = bring_runs()) != 0; runs += some)
      relay(a, b);
    split += next / channel_slots != (next + slots - 1) / channel_slots;
    std::fill(to.begin(), to.end(), 0xee);
    read_portions(next, t.header, to.data());
    ASSERT_TRUE(std::equal(data.begin(), data.begin() + bytes, to.begin())) << bytes;
    ASSERT_EQ(to[bytes], 0xee);
    ASSERT_LE(runs, 20);
    relay(b, a);
    next += slots;
  }
  EXPECT_GE(split, 1);
}

TEST_F(RelayBetween, portions_that_wait_while_others_are_on_their_way_go_together) {
  std::vector<unsigned char> data(150 * plain_bytes, 1);
  Transfer t = outgoing(data.data(), data.size(), 300, MessageKind::data, Form::apart);
  for (int run = 0; run < int(RelayOutbox::most_runs); ++run) {
    write_portions(t, run * portion_slots, (run + 1) * portion_slots);
    relay(a, b);
  }
  write_portions(t, RelayOutbox::most_runs * portion_slots, carried_slots(t.header));
  EXPECT_EQ(relay(a, b), 0);
  EXPECT_EQ(bring_runs(), int(RelayOutbox::most_runs));
  relay(a, b);
  const int longer = bring_runs();
  EXPECT_GE(longer, 2); // the first of them are not to wait for all
  relay(a, b);
  EXPECT_LT(longer + bring_runs(), 10);
  for (unsigned long long low = 0; low < carried_slots(t.header); low += portion_slots)
    EXPECT_TRUE(is_there(t.first + low)) << low;
}

/// What kernels do of a stream.
struct RelayedStream : RelayBetween {
  Channel out = a.link.stream(), in = b.link.stream();

  bool may_write(unsigned long long number) const {
    return out.out_freed[number % stream_chunks] == lap_of_chunk(number) - 1;
  }
  void write(unsigned long long number, std::uint32_t bytes = chunk_bytes) {
    ASSERT_TRUE(may_write(number));
    std::fill_n(chunk_at(out.out, number), bytes, static_cast<unsigned char>(number * 7 + bytes));
    device::store_packet(packet_of_chunk(out.out, number), bytes, lap_of_chunk(number));
  }
  bool has_come(unsigned long long number) const {
    return device::Packet::load(packet_of_chunk(in.in, number)).shows(lap_of_chunk(number));
  }
  void read(unsigned long long number, std::uint32_t bytes = chunk_bytes) {
    ASSERT_TRUE(has_come(number));
    EXPECT_EQ(device::Packet::load(packet_of_chunk(in.in, number)).data(), bytes);
    const auto expected = static_cast<unsigned char>(number * 7 + bytes);
    for (std::uint32_t i = 0; i < bytes; ++i)
      ASSERT_EQ(chunk_at(in.in, number)[i], expected) << number << ' ' << i;
    in.in_freed[number % stream_chunks] = lap_of_chunk(number);
  }
  /// Of the runs that the records so far told of: those arrive that have room.
  int bring() {
    int count = 0;
    for (; !records.empty() && b.link.has_room(records.front()); ++count) {
      RelayRun from{};
      EXPECT_TRUE(a.outbox.take_run(RunsOf::stream, from));
      const RelayRun to = b.link.runs_of(records.front(), nullptr)[0];
      EXPECT_EQ(from.bytes, to.bytes);
      EXPECT_EQ(from.first, to.first);
      EXPECT_EQ(from.behind, to.behind);
      EXPECT_EQ(b.link.runs_of(records.front(), nullptr)[1].bytes, 0u);
      std::copy_n(from.data, from.bytes, to.data);
      a.outbox.note_run_sent(RunsOf::stream);
      a.link.note_sent(from);
      b.link.deliver(records.front(), nullptr);
      records.pop_front();
    }
    return count;
  }
  std::deque<RelayRecord> records;
  void collect() {
    a.link.collect(a.outbox);
    for (RelayMessage message{nullptr}; a.outbox.take(message);) {
      message.for_each_record(
          [&](const RelayRecord &record, const std::uint64_t *) { records.push_back(record); });
      a.outbox.give_back(std::move(message));
    }
  }
};

TEST_F(RelayedStream, chunks_go_out_in_order_and_are_written_again_when_they_have_been_sent) {
  write(1);
  collect();
  EXPECT_EQ(bring(), 0); // the one before it is not there yet
  write(0);
  collect();
  EXPECT_FALSE(has_come(0));
  EXPECT_FALSE(may_write(stream_chunks));
  EXPECT_EQ(bring(), 1); // together
  EXPECT_TRUE(may_write(stream_chunks));
  read(1);
  read(0);
  EXPECT_FALSE(has_come(2));
}

TEST_F(RelayedStream, messages_of_any_length_follow_each_other_round_the_ring) {
  unsigned long long next = 0;
  for (std::uint32_t turn = 1; next < 3 * stream_chunks; ++turn) {
    const std::uint32_t whole = turn * 13 % 100, rest = turn % 3 == 0 ? 0 : 4 * turn;
    for (std::uint32_t i = 0; i < whole; ++i)
      write(next + i);
    if (rest != 0)
      write(next + whole, rest);
    for (int turns = 0; turns < 5; ++turns) {
      collect();
      bring();
    }
    for (std::uint32_t i = 0; i < whole; ++i)
      read(next + i);
    if (rest != 0)
      read(next + whole, rest);
    next += whole + (rest != 0);
  }
}

TEST_F(RelayedStream, what_its_receiver_has_not_read_is_not_written_over) {
  for (unsigned long long number = 0; number < stream_chunks; ++number)
    write(number);
  for (int turn = 0; turn < 10; ++turn) {
    collect();
    bring();
  }
  EXPECT_TRUE(has_come(stream_chunks - 1));
  write(stream_chunks); // the sender has sent the first one
  collect();
  EXPECT_EQ(bring(), 0);
  read(0);
  EXPECT_EQ(bring(), 1);
  read(stream_chunks);
  for (unsigned long long number = 1; number < stream_chunks; ++number)
    read(number);
}

TEST_F(RelayBetween, that_a_message_is_to_be_streamed_and_from_where_is_told) {
  std::uint64_t *answers = device::ack_of(*a.state, 20, answered_far);
  Transfer t = outgoing(nullptr, 100000, 7, MessageKind::announced);
  t.header.request = 20;
  t.header.serial = 3;
  t.header.streams = true;
  device::write_share(t, 0, 1, 0, 1);
  relay(a, b);
  const Header header = device::read_header(*b.state, 1, t.first);
  EXPECT_TRUE(header.streams);
  device::answer_to_stream(*b.state, 1, header, 1234567);
  relay(b, a);
  const auto answer = device::Packet::load(answers),
             first = device::Packet::load(answers + packet_words);
  ASSERT_TRUE(answer.shows(lap_of_serial(3)) && first.shows(lap_of_serial(3)));
  EXPECT_TRUE(device::is_streamed(unpack_match(answer.data())));
  EXPECT_EQ(first.data(), 1234567u);
}

TEST_F(RelayBetween, each_slot_is_told_to_be_free_once_in_whatever_order) {
  unsigned char none;
  for (int tag = 0; tag < 1000; ++tag)
    send(nullptr, 0, tag);
  relay(a, b);
  for (unsigned long long first : {999, 3, 4, 500})
    receive(first, &none);
  for (int turn = 0; turn < 5; ++turn) // it does not look at all of them each time
    relay(b, a);
  for (unsigned long long first : {999, 3, 4, 500})
    EXPECT_TRUE(is_free(channel_slots + first)) << first;
  EXPECT_FALSE(is_free(channel_slots));
  EXPECT_FALSE(is_free(channel_slots + 5));
  for (unsigned long long first = 0; first < 999; ++first)
    receive(first, &none);
  for (int turn = 0; turn < 5; ++turn)
    relay(b, a);
  EXPECT_TRUE(
      device::are_free(a.state->channels[1].out_freed, channel_slots, channel_slots + 1000));
  EXPECT_FALSE(is_free(channel_slots * 2));
  EXPECT_EQ(relay(b, a), 0);
}

TEST_F(RelayBetween, an_answer_comes_where_the_sender_looks_and_names_no_memory) {
  std::uint64_t *answers = device::ack_of(*a.state, 400, answered_far);
  auto answered = [&] { return device::Packet::load(answers).shows(lap_of_serial(77)); };
  ASSERT_EQ(answers, a.far_acks.data() + 400 * ack_packets * packet_words);
  for (int again = 0; again < 2; ++again) { // the same use of the same slot, 65536 uses later
    Transfer t = outgoing(nullptr, 100000, 7, MessageKind::announced);
    t.header.request = 400;
    t.header.serial = 77;
    device::write_share(t, 0, 1, 0, 1);
    relay(a, b);
    Request &request = post(300 + again, 7);
    request.room = 100000;
    request.serial = 65535;
    request.offer = {0, 0, 63, 1u << 31};
    relay(b, a);
    EXPECT_FALSE(answered());
    device::look_into_channels(*b.state);
    EXPECT_EQ(device::state_of(request), RequestState::awaiting_data);
    relay(b, a);
    ASSERT_TRUE(answered());
    const Match match = unpack_match(device::Packet::load(answers).data());
    EXPECT_EQ(match.request, 300u + again);
    EXPECT_EQ(match.serial, 65535u);
    EXPECT_EQ(match.number, 0u);
    EXPECT_EQ(match.place, 0u);
    const std::uint64_t *second = ack_at(b.link.acks(), 400) + packet_words;
    EXPECT_EQ(device::Packet::load(second).data(), 0u); // no later answer's
    EXPECT_FALSE(device::Packet::load(second).shows(lap_of_serial(77)));
    device::store_packet(answers, 0, 0);
  }
}

TEST_F(RelayBetween, kernels_look_far_only_when_something_has_come) {
  EXPECT_FALSE(device::has_messages(*b.state));
  send(nullptr, 0, 7);
  relay(a, b);
  EXPECT_TRUE(device::has_messages(*b.state));
  b.state->receiving[1].next |= locked; // somebody else looks, and may leave it
  EXPECT_FALSE(device::has_messages(*b.state));
  b.state->receiving[1].next &= ~locked;
  EXPECT_TRUE(device::has_messages(*b.state));
  post(300, 7, any_source);
  device::look_into_channels(*b.state);
  EXPECT_EQ(device::state_of(b.state->requests[300]), RequestState::receiving);
  EXPECT_EQ(b.state->requests[300].peer, 1u);
  EXPECT_FALSE(device::has_messages(*b.state));
  EXPECT_EQ(b.state->far_quiet, b.news);
}

TEST_F(RelayBetween, what_is_too_much_waits) {
  std::vector<unsigned char> data(eager_bytes, 1);
  for (int tag = 0; tag < 40; ++tag)
    send(data.data(), data.size(), tag);
  a.link.collect(a.outbox);
  const std::size_t most = RelayOutbox::most_messages;
  EXPECT_EQ(a.outbox.on_their_way(), most);
  std::vector<RelayMessage> sent;
  for (RelayMessage message{nullptr}; a.outbox.take(message);)
    sent.push_back(std::move(message));
  EXPECT_EQ(sent.size(), most);
  EXPECT_FALSE(a.link.collect(a.outbox));
  for (RelayMessage &message : sent) {
    message.for_each_record([&](const RelayRecord &record, const std::uint64_t *words) {
      b.link.deliver(record, words);
    });
    a.outbox.give_back(std::move(message));
  }
  for (int turn = 0; turn < 40; ++turn)
    relay(a, b);
  for (unsigned long long message = 0; message < 40; ++message)
    EXPECT_TRUE(is_there(message * slots_for(eager_bytes))) << message;
}

/// Three ranks' rounds, of which the test plays the kernels.
struct RelayedRounds : testing::Test {
  static constexpr int size = 3;
  std::vector<std::uint64_t> memory[size];
  std::vector<RelayRounds> rounds;
  RelayOutbox outboxes[size][size];

  RelayedRounds() {
    for (int rank = 0; rank < size; ++rank) {
      memory[rank].resize(std::size_t(round_places) * size * round_packets * packet_words);
      rounds.emplace_back(memory[rank].data(), 9, size, rank);
    }
  }
  std::uint64_t *at(int in, int from, std::uint32_t round, std::uint32_t packet) {
    return part_of_round(memory[in].data(), round, size, from) + packet * packet_words;
  }
  void begin(int rank, std::uint32_t round, std::uint32_t packets) {
    device::store_packet(at(rank, rank, round, 0), packets, round);
  }
  void write(int rank, std::uint32_t round, std::uint32_t packet) {
    device::store_packet(at(rank, rank, round, 1 + packet), 100 * round + packet, round);
  }
  bool shows(int in, int from, std::uint32_t round, std::uint32_t packet) {
    return device::Packet::load(at(in, from, round, packet)).shows(round);
  }
  bool relay(int from) {
    std::vector<RelayOutbox *> others;
    for (int to = 0; to < size; ++to)
      if (to != from)
        others.push_back(&outboxes[from][to]);
    const bool any = rounds[from].collect(others);
    for (int to = 0; to < size; ++to)
      for (RelayMessage message{nullptr}; outboxes[from][to].take(message);) {
        message.for_each_record([&](const RelayRecord &record, const std::uint64_t *data) {
          EXPECT_EQ(record.where, 9u);
          rounds[to].deliver(record, data);
        });
        outboxes[from][to].give_back(std::move(message));
      }
    return any;
  }
};

TEST_F(RelayedRounds, that_a_round_has_begun_is_told_at_once_and_the_part_when_it_is_whole) {
  EXPECT_FALSE(relay(1));
  begin(1, 1, 3);
  write(1, 1, 0);
  write(1, 1, 2);
  EXPECT_TRUE(relay(1));
  for (int to : {0, 2}) {
    EXPECT_TRUE(shows(to, 1, 1, 0));
    EXPECT_EQ(device::Packet::load(at(to, 1, 1, 0)).data(), 0u); // nothing that it could read yet
    EXPECT_FALSE(shows(to, 1, 1, 1));
  }
  EXPECT_FALSE(relay(1));
  EXPECT_EQ(rounds[1].begun(), 1u);
  write(1, 1, 1);
  EXPECT_TRUE(relay(1));
  EXPECT_EQ(rounds[1].begun(), 1u); // its part is of the same
  for (int to : {0, 2}) {
    EXPECT_EQ(device::Packet::load(at(to, 1, 1, 0)).data(), 3u);
    for (std::uint32_t p = 0; p < 3; ++p) {
      ASSERT_TRUE(shows(to, 1, 1, 1 + p));
      EXPECT_EQ(device::Packet::load(at(to, 1, 1, 1 + p)).data(), 100u + p);
    }
  }
  EXPECT_FALSE(relay(1));
  begin(1, 2, 0);
  EXPECT_TRUE(relay(1));
  EXPECT_TRUE(shows(0, 1, 2, 0));
  EXPECT_EQ(rounds[1].begun(), 2u);
}

TEST_F(RelayedRounds, a_part_that_nobody_has_waited_for_may_be_overwritten) {
  begin(1, 1, 3);
  write(1, 1, 1);
  EXPECT_TRUE(relay(1)); // the others go on: none of them needs the part
  write(1, 1, 0);
  write(1, 1, 2);
  const std::uint32_t last = 1 + round_places; // in the place of the first
  for (std::uint32_t round = 2; round < last; ++round)
    begin(1, round, 0);
  begin(1, last, 1);
  write(1, last, 0);
  while (relay(1)) {
  }
  EXPECT_TRUE(shows(0, 1, 2, 0));
  EXPECT_TRUE(shows(0, 1, last, 0));
  EXPECT_TRUE(shows(0, 1, last, 1));
  EXPECT_EQ(device::Packet::load(at(0, 1, last, 1)).data(), 100u * last);
}

} // namespace
