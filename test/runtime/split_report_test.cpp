// What is said of the calls of split kernels when nothing moves, and of settings that ask for what
// a kernel does not have.
#include "split_environment.hpp"

#include <chrono>
#include <cstdlib>
#include <thread>

using namespace gmpi;

static const int environment = setenv("GMPI_STALL", "1", 1) + setenv("GMPI_LOWER", "queue", 1);

namespace {

constexpr unsigned file = 0x5111;
const SourceFile source_file(file, "split_report_test.cu");

struct Receive {
  static constexpr int points = 3;
  static constexpr split::Sizes sizes{8, 0, 0, false, false};
  int *numbers;

  template <int R> void run(Segment segment, int *) const {
    Frame frame(segment);
    bool re = R != 0;
    MPI_Request request = re ? frame.saved_uniform<MPI_Request, 0, 8>() : MPI_REQUEST_NULL;
    GMPI_TEST_POINT(1) {
      if (split::MPI_Irecv<1>(frame, re, {file, 10}, numbers, 1, MPI_INT, 0, 5, MPI_COMM_WORLD,
                              &request)) {
        frame.save_uniform<0, 8>(request);
        return;
      }
    }
    GMPI_TEST_POINT(2) {
      if (split::MPI_Recv<2>(frame, re, {file, 20}, numbers + 1, 1, MPI_INT, 0, 6, MPI_COMM_WORLD,
                             MPI_STATUS_IGNORE)) {
        frame.save_uniform<0, 8>(request);
        return;
      }
    }
    if (split::MPI_Wait<3>(frame, re, {file, 30}, &request, MPI_STATUS_IGNORE))
      return;
  }
};

void send(int tag) {
  int number = tag;
  MPI_Send(&number, 1, MPI_INT, 0, tag, MPI_COMM_WORLD);
}

void stall() { std::this_thread::sleep_for(std::chrono::milliseconds(1700)); }

} // namespace

TEST(SplitReport, names_calls_and_waits) {
  Values<int> numbers(2);
  testing::internal::CaptureStderr();
  SplitProgram<Receive>::launch(Launch({2}, {32}), {numbers.data}, nullptr);
  stall();
  send(6);
  stall();
  send(5);
  wait_for_device();
  std::string said = testing::internal::GetCapturedStderr();
  EXPECT_EQ(numbers[0], 5);
  EXPECT_EQ(numbers[1], 6);
  EXPECT_NE(
      said.find("GMPI_LOWER is 'queue', but kernel tested (split_report_test.cu:1) was translated "
                "with --lower=split alone: that is what runs\n"),
      std::string::npos);
  EXPECT_NE(said.find("MPI_Recv from rank 0, tag 6 (grid scope, split_report_test.cu:20, for 1 s)"),
            std::string::npos);
  EXPECT_NE(
      said.find("MPI_Irecv from rank 0, tag 5 (grid scope, split_report_test.cu:10, not waited "
                "for, for 1 s)"),
      std::string::npos);
  EXPECT_NE(
      said.find("MPI_Irecv from rank 0, tag 5 (grid scope, split_report_test.cu:10, waited for at "
                "split_report_test.cu:30, for 1 s)"),
      std::string::npos)
      << said;
}
