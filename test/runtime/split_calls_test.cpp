// What each kind of call gives back to a kernel that is cut there: data, statuses, requests,
// errors, in each thread's own memory and in memory that all share.
#include "split_environment.hpp"

#include <cstdlib>
#include <thread>

using namespace gmpi;

static const int environment =
    setenv("GMPI_STAGING_MB", "1", 1) + setenv("GMPI_CPU_STACK_KB", "256", 1);

namespace {

constexpr unsigned file = 0x5111;
const SourceFile source_file(file, "split_calls_test.cu");
constexpr int large = 3000000; // more than there is page-locked memory: in parts

GMPI_DEVICE int thread_number() { return int(blockIdx.x * blockDim.x + threadIdx.x); }

/// Values that each thread saves, and a frame-resident one.
struct OwnBuffers {
  static constexpr int points = 4;
  static constexpr split::Sizes sizes{4, 0, 16, false, false};

  template <int R> void run(Segment segment, int *wrong) const {
    Frame frame(segment);
    bool re = R != 0;
    int mine = re ? frame.saved<int, 0, 4>() : thread_number() * 3;
    double got = -1;
    auto &lives = frame.resident<double, 8, 8>();
    if (!re)
      lives = 5;
    double sent = 2.5;
    GMPI_TEST_POINT(1) {
      if (split::MPI_Sendrecv<1>(frame, re, {file, 1}, &sent, 1, MPI_DOUBLE, 0, 1, &got, 1,
                                 MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE)) {
        frame.save<0, 4>(mine);
        return;
      }
      WRONG(got == 2.5 && mine == thread_number() * 3 && lives == 5);
      lives = 7;
    }
    MPI_Status status{};
    GMPI_TEST_POINT(2) {
      if (split::MPI_Sendrecv<2>(frame, re, {file, 2}, &lives, 1, MPI_DOUBLE, 0, 4, &got, 1,
                                 MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
                                 &status)) {
        frame.save<0, 4>(mine);
        return;
      }
      WRONG(got == 7 && status.MPI_TAG == 4 && status.MPI_SOURCE == 0 && status_bytes(status) == 8);
    }
    double sum = 0;
    GMPI_TEST_POINT(3) {
      if (split::MPI_Allreduce<3>(frame, re, {file, 3}, &sent, &sum, 1, MPI_DOUBLE, MPI_SUM,
                                  MPI_COMM_WORLD)) {
        frame.save<0, 4>(mine);
        return;
      }
      WRONG(sum == 2.5 && frame.error() == MPI_SUCCESS);
    }
    if (split::MPI_Allreduce<4>(frame, re, {file, 4}, MPI_IN_PLACE, &lives, 1, MPI_DOUBLE, MPI_MAX,
                                MPI_COMM_WORLD)) {
      frame.save<0, 4>(mine);
      return;
    }
    WRONG(lives == 7 && mine == thread_number() * 3);
  }
};

/// More than what travels in the Segment, and as much as may be each thread's own.
template <int Count> struct OwnArray {
  static constexpr int points = 1;
  static constexpr split::Sizes sizes{0, 0, 0, false, false};

  template <int R> void run(Segment segment, int *wrong) const {
    Frame frame(segment);
    bool re = R != 0;
    unsigned char sent[Count], got[Count];
    if (!re)
      for (int i = 0; i < Count; ++i)
        sent[i] = static_cast<unsigned char>(i * 7);
    if (split::MPI_Sendrecv<1>(frame, re, {file, 1}, sent, Count, MPI_BYTE, 0, 1, got, Count,
                               MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE))
      return;
    for (int i = 0; i < Count; ++i)
      WRONG(got[i] == static_cast<unsigned char>(i * 7));
  }
};

/// Requests in global memory or each thread's own, made by one launch and completed by another or
/// the same.
struct Requests {
  static constexpr int points = 5;
  static constexpr split::Sizes sizes{32, 0, 16, false, false};
  unsigned char *sent, *got;
  int bytes;
  MPI_Request *made; ///< the receive's, in global memory
  MPI_Status *status;
  bool finish;

  template <int R> void run(Segment segment, int *wrong) const {
    Frame frame(segment);
    bool re = R != 0;
    MPI_Request sending = re ? frame.saved_uniform<MPI_Request, 0, 8>() : MPI_REQUEST_NULL;
    auto &resident = frame.resident<MPI_Request, 0, 8>();
    GMPI_TEST_POINT(1) {
      if (split::MPI_Irecv<1>(frame, re, {file, 1}, got, bytes, MPI_BYTE, 0, 9, MPI_COMM_WORLD,
                              made)) {
        frame.save_uniform<0, 8>(sending);
        return;
      }
      WRONG(is_kernel_request(*made));
    }
    GMPI_TEST_POINT(2) {
      if (split::MPI_Isend<2>(frame, re, {file, 2}, sent, bytes, MPI_BYTE, 0, 9, MPI_COMM_WORLD,
                              &sending)) {
        frame.save_uniform<0, 8>(sending);
        return;
      }
      WRONG(is_kernel_request(sending));
    }
    GMPI_TEST_POINT(3) {
      if (split::MPI_Isend<3>(frame, re, {file, 3}, sent, bytes, MPI_BYTE, MPI_PROC_NULL, 9,
                              MPI_COMM_WORLD, &resident)) {
        frame.save_uniform<0, 8>(sending);
        return;
      }
      WRONG(resident == null_peer_request());
    }
    GMPI_TEST_POINT(4) {
      if (split::MPI_Wait<4>(frame, re, {file, 4}, &sending, MPI_STATUS_IGNORE)) {
        frame.save_uniform<0, 8>(sending);
        return;
      }
      WRONG(sending == MPI_REQUEST_NULL && frame.error() == MPI_SUCCESS);
    }
    if (!re && !finish)
      return;
    if (split::MPI_Wait<5>(frame, re, {file, 5}, made, status))
      return;
    WRONG(*made == MPI_REQUEST_NULL && status_bytes(*status) == bytes && status->MPI_TAG == 9);
  }
};

struct Several {
  static constexpr int points = 5;
  static constexpr split::Sizes sizes{40, 0, 0, false, false};
  int *numbers;
  MPI_Status *statuses; ///< null: each thread's own

  template <int R> void run(Segment segment, int *wrong) const {
    Frame frame(segment);
    bool re = R != 0;
    MPI_Request requests[4];
    MPI_Status own[4];
    struct Four {
      MPI_Request request[4];
    };
    if (re) {
      Four four = frame.saved_uniform<Four, 0, 32>();
      for (int i = 0; i < 4; ++i)
        requests[i] = four.request[i];
    }
    int i = re ? frame.saved_uniform<int, 32, 4>() : 0;
    auto save = [&] {
      Four four;
      for (int k = 0; k < 4; ++k)
        four.request[k] = requests[k];
      frame.save_uniform<0, 32>(four);
      frame.save_uniform<32, 4>(i);
    };
    GMPI_TEST_POINT(1) {
      requests[3] = re ? requests[3] : MPI_REQUEST_NULL;
      if (split::MPI_Irecv<1>(frame, re, {file, 1}, numbers, 1, MPI_INT, 0, 20, MPI_COMM_WORLD,
                              &requests[0]))
        return save();
    }
    int sent = 41;
    GMPI_TEST_POINT(2) {
      if (split::MPI_Irecv<2>(frame, re, {file, 2}, numbers + 1, 1, MPI_INT, 0, 21, MPI_COMM_WORLD,
                              &requests[1]))
        return save();
    }
    for (; (re && R == 3) || (!re && i < 2); ++i)
      if (split::MPI_Send<3>(frame, re, {file, 3}, &sent, 1, MPI_INT, 0, 20 + i, MPI_COMM_WORLD))
        return save();
    GMPI_TEST_POINT(4) {
      if (split::MPI_Irecv<4>(frame, re, {file, 4}, numbers, 1, MPI_INT, MPI_PROC_NULL, 21,
                              MPI_COMM_WORLD, &requests[2]))
        return save();
    }
    MPI_Status *status = statuses ? statuses : own;
    if (split::MPI_Waitall<5>(frame, re, {file, 5}, 4, requests, status))
      return save();
    for (int k = 0; k < 4; ++k)
      WRONG(requests[k] == MPI_REQUEST_NULL);
    WRONG(numbers[0] == 41 && numbers[1] == 41);
    WRONG(status[0].MPI_TAG == 20 && status[1].MPI_TAG == 21 &&
          status[2].MPI_SOURCE == MPI_PROC_NULL);
  }
};

struct Tests {
  static constexpr int points = 3;
  static constexpr split::Sizes sizes{16, 0, 0, false, false};
  int *number;

  template <int R> void run(Segment segment, int *wrong) const {
    Frame frame(segment);
    bool re = R != 0;
    MPI_Request request = re ? frame.saved_uniform<MPI_Request, 0, 8>() : MPI_REQUEST_NULL;
    int turns = re ? frame.saved_uniform<int, 8, 4>() : 0;
    int done = 0;
    GMPI_TEST_POINT(1) {
      if (split::MPI_Irecv<1>(frame, re, {file, 1}, number, 1, MPI_INT, 0, 30, MPI_COMM_WORLD,
                              &request)) {
        frame.save_uniform<0, 8>(request);
        frame.save_uniform<8, 4>(turns);
        return;
      }
    }
    MPI_Status status{};
    while (re ? R != 1 : !done) {
      if (re ? R == 2 : true) {
        if (split::MPI_Test<2>(frame, re, {file, 2}, &request, &done, &status)) {
          frame.save_uniform<0, 8>(request);
          frame.save_uniform<8, 4>(turns);
          return;
        }
        WRONG(turns > 0 || !done); // nothing has been sent
        WRONG((request == MPI_REQUEST_NULL) == bool(done));
      }
      if (!re && done)
        break;
      int sent = 77;
      if (re ? R == 3 : turns == 0) {
        if (split::MPI_Send<3>(frame, re, {file, 3}, &sent, 1, MPI_INT, 0, 30, MPI_COMM_WORLD)) {
          frame.save_uniform<0, 8>(request);
          frame.save_uniform<8, 4>(turns);
          return;
        }
      }
      ++turns;
    }
    WRONG(*number == 77 && status.MPI_TAG == 30);
  }
};

struct Errors {
  static constexpr int points = 3;
  static constexpr split::Sizes sizes{4, 0, 0, false, false};
  MPI_Datatype datatype;

  template <int R> void run(Segment segment, int *wrong) const {
    Frame frame(segment);
    bool re = R != 0;
    int number = 0, found = re ? frame.saved_uniform<int, 0, 4>() : 0;
    GMPI_TEST_POINT(1) {
      if (split::MPI_Send<1>(frame, re, {file, 1}, &number, 1, MPI_INT, 77, 0, MPI_COMM_WORLD)) {
        frame.save_uniform<0, 4>(found);
        return;
      }
      found += frame.error() != MPI_SUCCESS;
    }
    GMPI_TEST_POINT(2) {
      if (split::MPI_Recv<2>(frame, re, {file, 2}, &number, 1, datatype, 0, 0, MPI_COMM_WORLD,
                             MPI_STATUS_IGNORE)) {
        frame.save_uniform<0, 4>(found);
        return;
      }
      found += frame.error() != MPI_SUCCESS;
    }
    if (split::MPI_Barrier<3>(frame, re, {file, 3}, MPI_COMM_WORLD)) {
      frame.save_uniform<0, 4>(found);
      return;
    }
    WRONG(found == 2 && frame.error() == MPI_SUCCESS);
  }
};

struct Global {
  static constexpr int points = 2;
  static constexpr split::Sizes sizes{0, 0, 0, false, false};
  unsigned char *sent, *got;
  int bytes;
  MPI_Status *status;

  template <int R> void run(Segment segment, int *wrong) const {
    Frame frame(segment);
    bool re = R != 0;
    GMPI_TEST_POINT(1) {
      if (split::MPI_Sendrecv<1>(frame, re, {file, 1}, sent, bytes, MPI_BYTE, 0, 3, got, bytes,
                                 MPI_BYTE, 0, 3, MPI_COMM_WORLD, status))
        return;
      WRONG(status->MPI_TAG == 3 && status_bytes(*status) == bytes);
    }
    if (split::MPI_Bcast<2>(frame, re, {file, 2}, got, bytes, MPI_BYTE, 0, MPI_COMM_WORLD))
      return;
  }
};

/// Completes a request that it finds in global memory.
struct Completes {
  static constexpr int points = 2;
  static constexpr split::Sizes sizes{0, 0, 0, false, false};
  MPI_Request *request;
  MPI_Status *status;
  int *flag; ///< null: MPI_Wait

  template <int R> void run(Segment segment, int *wrong) const {
    Frame frame(segment);
    bool re = R != 0;
    if (re ? R == 1 : flag == nullptr) {
      if (split::MPI_Wait<1>(frame, re, {file, 1}, request, status))
        return;
      WRONG(*request == MPI_REQUEST_NULL && frame.error() == MPI_SUCCESS);
      return;
    }
    if (split::MPI_Test<2>(frame, re, {file, 2}, request, flag, status))
      return;
    WRONG((*request == MPI_REQUEST_NULL) == bool(*flag));
  }
};

// A kernel that is not split.
void receives(unsigned char *, int, MPI_Request *) {}
void receives__queue(Launched launched, unsigned char *got, int bytes, MPI_Request *request) {
  Participant participant(launched);
  grid::MPI_Irecv({file, 50}, got, bytes, MPI_BYTE, 0, 40, MPI_COMM_WORLD, request);
}
const KernelInfo receives__info = {"receives", file, 50, Scope::grid};

struct Bytes {
  Values<unsigned char> sent, got;
  explicit Bytes(int bytes) : sent(bytes), got(bytes) {
    for (int i = 0; i < bytes; ++i)
      sent[i] = static_cast<unsigned char>(i * 11 + i / 253);
  }
  bool all_received() const { return std::equal(sent.data, sent.data + sent.n, got.data); }
};

} // namespace

TEST(SplitCalls, buffers_of_each_thread) { run_split(Launch({3}, {40}), OwnBuffers{}); }

TEST(SplitCalls, arrays_of_each_thread) {
  run_split(Launch({2}, {32}), OwnArray<128>{});
  run_split(Launch({2}, {32}), OwnArray<129>{});
  run_split(Launch({2}, {4}), OwnArray<int(inline_bytes)>{});
}

TEST(SplitCalls, global_memory_of_any_size) {
  Values<MPI_Status> status(1);
  for (int bytes : {1, 100, int(inline_bytes), int(inline_bytes) + 1, 500000, large}) {
    Bytes data(bytes);
    run_split(Launch({3}, {40}), Global{data.sent.data, data.got.data, bytes, status.data});
    EXPECT_TRUE(data.all_received()) << bytes;
  }
}

TEST(SplitCalls, requests) {
  for (int bytes : {1, int(inline_bytes), int(inline_bytes) + 1, 500000, large}) {
    Bytes data(bytes);
    Values<MPI_Request> made(1);
    Values<MPI_Status> status(1);
    run_split(Launch({3}, {40}),
              Requests{data.sent.data, data.got.data, bytes, made.data, status.data, true});
    EXPECT_EQ(made[0], MPI_REQUEST_NULL);
    EXPECT_TRUE(data.all_received()) << bytes;
  }
}

/// The host program completes what a kernel has begun.
TEST(SplitCalls, requests_for_the_host) {
  for (int bytes : {1, 500000, large}) {
    Bytes data(bytes);
    Values<MPI_Request> made(1);
    run_split(Launch({3}, {40}),
              Requests{data.sent.data, data.got.data, bytes, made.data, nullptr, false});
    MPI_Status status;
    EXPECT_EQ(MPI_Wait(made.data, &status), MPI_SUCCESS);
    EXPECT_EQ(status_bytes(status), bytes);
    EXPECT_TRUE(data.all_received()) << bytes;
  }
}

TEST(SplitCalls, many_requests_at_a_time) {
  Values<int> numbers(2);
  Values<MPI_Status> statuses(4);
  run_split(Launch({3}, {40}), Several{numbers.data, statuses.data});
  numbers[0] = numbers[1] = 0;
  run_split(Launch({3}, {40}), Several{numbers.data, nullptr});
}

TEST(SplitCalls, test_until_done) {
  Values<int> number(1);
  run_split(Launch({2}, {32}), Tests{number.data});
}

TEST(SplitCalls, errors_are_returned) {
  MPI_Datatype derived;
  MPI_Type_contiguous(3, MPI_INT, &derived);
  MPI_Type_commit(&derived);
  testing::internal::CaptureStderr();
  run_split(Launch({2}, {32}), Errors{derived});
  std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("MPI_Recv at split_calls_test.cu:2: a kernel can send and receive predefined "
                      "datatypes only"),
            std::string::npos)
      << said;
  MPI_Type_free(&derived);
}

/// Requests of kernels that are not split, and of the host program.
TEST(SplitCalls, requests_of_others) {
  for (int bytes : {1, 500000, large}) {
    Bytes data(bytes);
    Values<MPI_Request> request(1);
    Values<MPI_Status> status(1);
    Launch({2}, {32}).queue(receives, receives__queue, receives__info, data.got.data, bytes,
                            request.data);
    wait_for_device();
    ASSERT_TRUE(is_kernel_request(request[0]));
    std::thread sender([&] { MPI_Send(data.sent.data, bytes, MPI_BYTE, 0, 40, MPI_COMM_WORLD); });
    run_split(Launch({3}, {40}), Completes{request.data, status.data, nullptr});
    sender.join();
    EXPECT_EQ(status_bytes(status[0]), bytes);
    EXPECT_TRUE(data.all_received()) << bytes;
  }
  Values<MPI_Request> request(1);
  Values<MPI_Status> status(1);
  Values<int> flag(1);
  int number = 0, sent = 8;
  MPI_Irecv(&number, 1, MPI_INT, 0, 41, MPI_COMM_WORLD, request.data);
  run_split(Launch({3}, {40}), Completes{request.data, status.data, flag.data});
  EXPECT_EQ(flag[0], 0);
  MPI_Send(&sent, 1, MPI_INT, 0, 41, MPI_COMM_WORLD);
  run_split(Launch({3}, {40}), Completes{request.data, status.data, nullptr});
  EXPECT_EQ(number, 8);
  EXPECT_EQ(status[0].MPI_TAG, 41);
}
