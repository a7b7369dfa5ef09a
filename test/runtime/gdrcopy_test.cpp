// Device memory that the host writes through a mapping, with a library that stands in for GDRCopy's
// (test/run/gdrcopy/Inputs/gdrapi.cpp): what is given back when something fails, and Replies in
// such memory. That library breaks a program which stores to the memory in any other way.
#include "mpi_environment.hpp"
#include "numbered_reply.hpp"

#include "proxy/device_queue.hpp"
#include "queue/reply_device.hpp"
#include "transport/gdrcopy.hpp"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <thread>

using namespace gmpi;

static const int environment = setenv("GMPI_GDRCOPY", "1", 1);

namespace {

void set_fault(const char *what) {
  void *library = dlopen("libgdrapi.so.2", RTLD_NOW);
  ASSERT_NE(library, nullptr) << dlerror();
  auto *set = reinterpret_cast<void (*)(const char *)>(dlsym(library, "set_fake_gdrapi"));
  ASSERT_NE(set, nullptr) << "another library";
  set(what);
}

constexpr std::size_t bytes = 2 * GdrMapping::page_bytes, words = bytes / sizeof(std::uint64_t);

/// Whole pages of device memory.
struct Pages {
  Pages() {
    EXPECT_EQ(cudaMalloc(&memory, bytes + GdrMapping::page_bytes), cudaSuccess);
    const std::size_t page = GdrMapping::page_bytes;
    first = (reinterpret_cast<std::uintptr_t>(memory) + page - 1) / page * page;
  }
  ~Pages() { cudaFree(memory); }
  std::uint64_t *data() const { return reinterpret_cast<std::uint64_t *>(first); }

  void *memory = nullptr;
  std::uintptr_t first = 0;
};

} // namespace

TEST(GdrMapping, stores_arrive) {
  set_fault("");
  Pages pages;
  std::memset(pages.data(), 0x77, bytes);
  testing::internal::CaptureStderr();
  for (int round = 0; round < 2; ++round) {
    GdrMapping mapping;
    ASSERT_EQ(mapping.open(), "");
    ASSERT_EQ(mapping.map(pages.data(), bytes, nullptr), "");
    for (std::size_t i = 0; i < words; ++i)
      ASSERT_EQ(__atomic_load_n(pages.data() + i, __ATOMIC_RELAXED), 0u) << i;
    for (std::size_t i = 0; i < words; ++i)
      __atomic_store_n(mapping.words() + i, i + 1, __ATOMIC_RELAXED);
    fence_mapped_writes();
    for (std::size_t i = 0; i < words; ++i)
      ASSERT_EQ(__atomic_load_n(pages.data() + i, __ATOMIC_RELAXED), i + 1);
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "gdrapi: words were written through the mapping\n"
            "gdrapi: words were written through the mapping\n");
}

/// What was had before is given back, in the right order; and the next one works.
TEST(GdrMapping, failures) {
  constexpr const char *faults[][2] = {
      {"open", "GDRCopy's library does not reach its driver (gdr_open; is the kernel module gdrdrv "
               "loaded?)"},
      {"pin", "GDRCopy cannot pin the GPU's memory (gdr_pin_buffer: Invalid argument)"},
      {"info", "GDRCopy cannot describe the GPU's memory (gdr_get_info: Bad file descriptor)"},
      {"elsewhere", "GDRCopy has pinned other memory than it was given"},
      {"map", "GDRCopy cannot map the GPU's memory (gdr_map: Cannot allocate memory)"},
      {"other", "what is stored to GDRCopy's mapping does not arrive in the GPU's memory"},
      {"", ""},
  };
  Pages pages;
  for (const auto &[fault, why] : faults) {
    set_fault(fault);
    testing::internal::CaptureStderr();
    {
      GdrMapping mapping;
      std::string against = mapping.open();
      if (against.empty())
        against = mapping.map(pages.data(), bytes, nullptr);
      EXPECT_EQ(against, why);
    }
    EXPECT_EQ(testing::internal::GetCapturedStderr(),
              *fault != '\0' ? "" : "gdrapi: no words were written through the mapping\n");
  }
}

TEST(RepliesOnDevice, each_kind_in_every_slot) {
  set_fault("");
  testing::internal::CaptureStderr();
  {
    DeviceQueue queue(0);
    ASSERT_EQ(queue.against_gdrcopy(), "");
    const Context &context = queue.context();
    unsigned char data[reply_data_bytes], got[reply_data_bytes];
    for (std::uint32_t i = 0; i < reply_data_bytes; ++i)
      data[i] = static_cast<unsigned char>(200 - i * 7);
    for (std::uint32_t slot = 0; slot < request_slots; slot += slot + 7 < request_slots ? 7 : 1) {
      Reply reply;
      ASSERT_FALSE(device::try_reply(context, slot, 0, true, reply)) << slot;
      queue.reply(slot, 1, numbered(slot + 1, ReplyKind::copy_out));
      ASSERT_TRUE(device::try_reply(context, slot, 0, true, reply)) << slot;
      ASSERT_TRUE(is_number(reply, slot + 1)) << slot;
      const std::uint32_t length = 11 + slot % (reply_data_bytes - 10);
      Reply beside = numbered(length, ReplyKind::done_beside);
      queue.reply(slot, 2, beside, data);
      ASSERT_TRUE(device::try_reply(context, slot, 1, true, reply)) << slot;
      ASSERT_EQ(reply.bytes, length);
      device::read_beside(context, slot, length, got);
      ASSERT_EQ(std::memcmp(got, data, length), 0) << slot;
      ASSERT_FALSE(device::try_reply(context, slot, 2, true, reply)) << slot;
    }
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "gdrapi: words were written through the mapping\n");
}

/// Both ends at once, through the turn's wrap: who sees the head finds the rest.
TEST(RepliesOnDevice, host_and_kernel_in_turn) {
  set_fault("");
  DeviceQueue queue(0);
  ASSERT_EQ(queue.against_gdrcopy(), "");
  constexpr std::uint32_t slot = 600, first = 0xff00, turns = 512;
  queue.reply(slot, first, numbered(0, ReplyKind::copy_in));
  std::atomic<std::uint64_t> seen{0};
  std::thread host([&] {
    for (std::uint64_t n = 1; n <= turns; ++n) {
      queue.reply(slot, (first + n) & 0xffff, numbered(n, ReplyKind::copy_in));
      while (seen < n)
        std::this_thread::yield();
    }
  });
  int wrong = 0;
  std::uint32_t turn = first;
  for (std::uint64_t n = 1; n <= turns; ++n) {
    Reply reply;
    while (!device::try_reply(queue.context(), slot, turn, true, reply))
      std::this_thread::yield();
    wrong += !is_number(reply, n);
    turn = queue.context().records[slot].turn;
    seen = n;
  }
  host.join();
  EXPECT_EQ(wrong, 0);
}

/// They are the host's then, and the queue works.
TEST(RepliesOnDevice, refused) {
  set_fault("map");
  DeviceQueue queue(0);
  EXPECT_EQ(queue.against_gdrcopy(),
            "GDRCopy cannot map the GPU's memory (gdr_map: Cannot allocate memory)");
  Reply reply;
  queue.reply(3, 1, numbered(5, ReplyKind::copy_out));
  ASSERT_TRUE(device::try_reply(queue.context(), 3, 0, true, reply));
  EXPECT_TRUE(is_number(reply, 5));
}
