// What the runtime knows of MPI libraries beyond MPI's own interface: request handles that no
// library uses, the bytes of a status, the table of predefined datatypes.
#include "mpi_environment.hpp"

#include "proxy/device_queue.hpp"

#include <gmpi/gmpi.hpp>

#include <vector>

using namespace gmpi;

namespace {

struct Predefined {
  const char *name;
  MPI_Datatype datatype;
};

std::vector<Predefined> datatypes() {
  return {
#define GMPI_DATATYPE(handle, variable) {#handle, handle},
#include "mpi/predefined_handles.def"
  };
}

} // namespace

TEST(Requests, encoded_and_decoded) {
  for (std::uint32_t slot : {0u, 1u, 512u, 1023u})
    for (std::uint32_t device : {0u, 1u, 63u})
      for (std::uint32_t serial : {0u, 1u, 0xfffu, 0x12345u}) {
        MPI_Request request = encode_request({slot, device, serial});
        EXPECT_TRUE(is_kernel_request(request));
        KernelRequest decoded = decode_request(request);
        EXPECT_EQ(decoded.slot, slot);
        EXPECT_EQ(decoded.device, device);
        EXPECT_EQ(decoded.serial, serial & serial_mask);
      }
}

/// Many of every kind that a program may hold at a time.
TEST(Requests, none_of_mpis_is_a_kernels) {
  EXPECT_FALSE(is_kernel_request(MPI_REQUEST_NULL));
  constexpr int many = 3000;
  std::vector<char> data(many), sent(many);
  std::vector<MPI_Request> requests;
  auto expect_foreign = [&](MPI_Request request) {
    EXPECT_FALSE(is_kernel_request(request)) << std::hex << to_word(request);
    return request;
  };
  for (int i = 0; i < many; ++i) {
    MPI_Request request;
    PMPI_Irecv(&data[i], 1, MPI_CHAR, 0, i, MPI_COMM_SELF, &request);
    requests.push_back(expect_foreign(request));
    PMPI_Isend(&sent[i], 1, MPI_CHAR, 0, i, MPI_COMM_SELF, &request);
    requests.push_back(expect_foreign(request));
  }
  for (int i = 0; i < 100; ++i) {
    MPI_Request request;
    PMPI_Ibarrier(MPI_COMM_SELF, &request);
    requests.push_back(expect_foreign(request));
    PMPI_Irecv(&data[i], 1, MPI_CHAR, MPI_PROC_NULL, 0, MPI_COMM_SELF, &request);
    requests.push_back(expect_foreign(request));
    PMPI_Send_init(&data[i], 1, MPI_CHAR, 0, 0, MPI_COMM_SELF, &request);
    expect_foreign(request);
    PMPI_Request_free(&request);
  }
  EXPECT_EQ(PMPI_Waitall(int(requests.size()), requests.data(), MPI_STATUSES_IGNORE), MPI_SUCCESS);
}

TEST(Statuses, bytes_of_a_message) {
  std::vector<char> data(100000), room(100000);
  for (int bytes : {0, 1, 100000}) {
    MPI_Status status;
    ASSERT_EQ(PMPI_Sendrecv(data.data(), bytes, MPI_CHAR, 0, 0, room.data(), 100000, MPI_CHAR, 0, 0,
                            MPI_COMM_SELF, &status),
              MPI_SUCCESS);
    EXPECT_EQ(status_bytes(status), bytes);
  }
}

TEST(Statuses, mpi_reads_what_is_set) {
  for (long long bytes : {0ll, 4ll, 0x7fffffffll, 0x80000000ll, 0x100000000ll, 0x123456789abll}) {
    MPI_Status status{};
    set_status_bytes(status, bytes);
    EXPECT_EQ(status_bytes(status), bytes);
    MPI_Count count = -1;
    PMPI_Get_elements_x(&status, MPI_BYTE, &count);
    EXPECT_EQ(count, bytes);
    int cancelled = 1;
    PMPI_Test_cancelled(&status, &cancelled);
    EXPECT_EQ(cancelled, 0);
  }
  MPI_Status status{};
  set_status_bytes(status, 24);
  int count = 0;
  PMPI_Get_count(&status, MPI_DOUBLE, &count);
  EXPECT_EQ(count, 3);
}

TEST(Datatypes, device_knows_the_predefined) {
  DeviceQueue queue(0);
  for (auto [name, datatype] : datatypes()) {
    if (datatype == MPI_DATATYPE_NULL) // this library lacks it
      continue;
    int size = 0;
    MPI_Aint lower = 0, extent = 0;
    PMPI_Type_size(datatype, &size);
    PMPI_Type_get_extent(datatype, &lower, &extent);
    DatatypeEntry entry = device::find_datatype(datatype);
    EXPECT_EQ(entry.size, size) << name;
    EXPECT_EQ(entry.extent, extent) << name;
    EXPECT_EQ(device::message_bytes(3, datatype), std::uint64_t(3 * extent)) << name;
    EXPECT_EQ(device::message_bytes(0, datatype), 0u);
    EXPECT_EQ(device::message_bytes(-1, datatype), 0u);
    EXPECT_EQ(device::message_bytes(0x7fffffff, datatype), std::uint64_t(extent) * 0x7fffffff);
    // The table itself, which MPICH's own handles can do without.
    std::uint32_t place = datatype_hash(datatype);
    for (std::uint32_t i = 0; i < datatype_slots && device::context.datatypes[place].extent != 0 &&
                              device::context.datatypes[place].handle != datatype;
         ++i)
      place = (place + 1) % datatype_slots;
    EXPECT_EQ(device::context.datatypes[place].handle, datatype) << name;
    EXPECT_EQ(device::context.datatypes[place].extent, extent) << name;
  }
}

TEST(Datatypes, device_knows_no_others) {
  DeviceQueue queue(0);
  MPI_Datatype derived = MPI_DATATYPE_NULL, same = MPI_DATATYPE_NULL;
  PMPI_Type_contiguous(2, MPI_INT, &derived);
  PMPI_Type_dup(MPI_INT, &same);
  for (MPI_Datatype datatype : {derived, same, MPI_Datatype(MPI_DATATYPE_NULL)}) {
    EXPECT_EQ(device::find_datatype(datatype).extent, 0);
    EXPECT_EQ(device::message_bytes(1, datatype), unknown_bytes);
    EXPECT_EQ(device::message_bytes(0, datatype), 0u);
  }
  PMPI_Type_free(&derived);
  PMPI_Type_free(&same);
}

TEST(Datatypes, get_count_as_mpi_counts) {
  DeviceQueue queue(0);
  for (auto [name, datatype] : datatypes())
    for (long long bytes : {0ll, 1ll, 24ll, 48ll, 96ll, 4096ll}) {
      if (datatype == MPI_DATATYPE_NULL)
        continue;
      MPI_Status status{};
      set_status_bytes(status, bytes);
      int wanted = -1, got = -2;
      PMPI_Get_count(&status, datatype, &wanted);
      Arguments a{};
      a.known_status = &status;
      a.datatype = datatype;
      a.result = &got;
      EXPECT_EQ(device::local_call<Function::Get_count>({}, a), MPI_SUCCESS);
      EXPECT_EQ(got, wanted) << name << ", " << bytes << " bytes";
    }
}
