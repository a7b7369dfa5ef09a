// Warp operations and atomics of the cpu device.
#include "cpu_run.hpp"

namespace {
constexpr unsigned all = 0xffffffffu;

// Runs `good` in 3 warps and counts the threads where it is false.
template <class F> int failures(F good, unsigned threads = 96) {
  Values<int> wrong(1);
  run({2, threads}, [=, wrong = wrong.data] {
    if (!good(static_cast<int>(threadIdx.x % 32)))
      atomicAdd(wrong, 1);
  });
  return wrong[0];
}
} // namespace

TEST(CpuWarp, shuffles) {
  EXPECT_EQ(failures([](int lane) {
              const double value = lane * 1.5;
              return __shfl_sync(all, value, 7) == 7 * 1.5 && __shfl_sync(all, lane, 33) == 1 &&
                     __shfl_sync(all, lane, 2, 8) == lane / 8 * 8 + 2 &&
                     __shfl_up_sync(all, lane, 3) == (lane < 3 ? lane : lane - 3) &&
                     __shfl_down_sync(all, lane, 3) == (lane > 28 ? lane : lane + 3) &&
                     __shfl_down_sync(all, lane, 1, 4) == (lane % 4 == 3 ? lane : lane + 1) &&
                     __shfl_xor_sync(all, 5000000000ll + lane, 16) == 5000000000ll + (lane ^ 16) &&
                     __shfl_xor_sync(all, static_cast<unsigned>(lane), 1) ==
                         static_cast<unsigned>(lane ^ 1);
            }),
            0);
}

TEST(CpuWarp, a_sum_by_shuffles) {
  EXPECT_EQ(failures([](int lane) {
              float sum = static_cast<float>(lane);
              for (int offset = 16; offset > 0; offset /= 2)
                sum += __shfl_down_sync(all, sum, static_cast<unsigned>(offset));
              return lane != 0 || sum == 496.0f;
            }),
            0);
}

TEST(CpuWarp, votes_matches_and_reductions) {
  EXPECT_EQ(failures([](int lane) {
              int same = -1, different = -1;
              return __ballot_sync(all, lane % 2) == 0xaaaaaaaau && __any_sync(all, lane == 31) &&
                     !__any_sync(all, lane > 31) && !__all_sync(all, lane) &&
                     __all_sync(all, lane < 32) &&
                     __match_any_sync(all, lane / 8) == 0xffu << lane / 8 * 8 &&
                     __match_all_sync(all, 5, &same) == all && same == 1 &&
                     __match_all_sync(all, lane, &different) == 0 && different == 0 &&
                     __reduce_add_sync(all, lane) == 496 && __reduce_max_sync(all, lane) == 31 &&
                     __reduce_min_sync(all, lane - 7) == -7 &&
                     __reduce_or_sync(all, 1u << lane) == all;
            }),
            0);
}

TEST(CpuWarp, masks_in_divergent_branches) {
  EXPECT_EQ(failures([](int lane) {
              if (lane < 12)
                return __ballot_sync(0xfffu, 1) == 0xfffu && __shfl_sync(0xfffu, lane, 11) == 11;
              if (lane == 12)
                return __activemask() == 1u << 12;
              const unsigned rest = all << 13;
              __syncwarp(rest);
              return __reduce_add_sync(rest, 1) == 19;
            }),
            0);
}

// Lanes that have got theirs make others, with fewer lanes, before the rest has read it.
TEST(CpuWarp, what_an_exchange_gave_stays_until_each_lane_has_read_it) {
  EXPECT_EQ(failures([](int lane) {
              const unsigned half = lane < 16 ? 0xffffu : 0xffff0000u;
              bool good = true;
              for (int i = 0; i < 20; ++i) {
                good &= __shfl_sync(all, 100 * i + lane, 31 - lane) == 100 * i + 31 - lane;
                for (int k = 0; k < (lane < 16 ? i : 3); ++k)
                  good &= __shfl_xor_sync(half, 7 * k + lane, 1) == 7 * k + (lane ^ 1) &&
                          __ballot_sync(half, lane % 4 == k % 4) == (half & 0x11111111u << k % 4);
              }
              return good;
            }),
            0);
}

TEST(CpuWarp, lanes_that_returned_are_not_waited_for) {
  Values<int> ballots(2);
  run({1, 40}, [ballots = ballots.data] { // the second warp has 8 lanes
    if (threadIdx.x % 32 == 3)
      return;
    const unsigned ballot = __ballot_sync(all, 1);
    if (threadIdx.x % 32 == 0)
      ballots[threadIdx.x / 32] = static_cast<int>(ballot);
  });
  EXPECT_EQ(static_cast<unsigned>(ballots[0]), 0xfffffff7u);
  EXPECT_EQ(static_cast<unsigned>(ballots[1]), 0xf7u);
}

template <class T> class CpuAtomics : public testing::Test {};
using Types = testing::Types<int, unsigned, unsigned long long, float, double>;
TYPED_TEST_SUITE(CpuAtomics, Types);

TYPED_TEST(CpuAtomics, add_exchange_and_swap) {
  using T = TypeParam;
  constexpr int threads = 4 * 256;
  Values<T> values(8);
  values[2] = 100;
  run({4, 256}, [v = values.data] {
    const T rank = static_cast<T>(blockIdx.x * 256 + threadIdx.x);
    atomicAdd(&v[0], 1);
    atomicAdd_system(&v[1], 2);
    atomicMin(&v[2], rank);
    atomicMax_block(&v[3], rank);
    T seen = atomicAdd(&v[4], 0), assumed;
    do {
      assumed = seen;
      seen = atomicCAS(&v[4], assumed, static_cast<T>(assumed + 1));
    } while (seen != assumed);
    if (rank == 7)
      atomicExch(&v[5], T(3));
  });
  EXPECT_EQ(values[0], T(threads));
  EXPECT_EQ(values[1], T(2 * threads));
  EXPECT_EQ(values[2], T(0));
  EXPECT_EQ(values[3], T(threads - 1));
  EXPECT_EQ(values[4], T(threads));
  EXPECT_EQ(values[5], T(3));
}

TEST(CpuAtomics, bits_and_wrapping_counters) {
  Values<unsigned> v(8);
  v[0] = all, v[4] = 5;
  run({1, 64}, [v = v.data] {
    const unsigned t = threadIdx.x;
    if (t < 32) {
      atomicAnd(&v[0], ~(1u << t));
      atomicOr(&v[1], 1u << t);
      atomicXor(&v[2], 1u << t);
    }
    atomicInc(&v[3], 9); // 0 1 ... 9 0 ...
    atomicDec(&v[4], 9); // 5 ... 0 9 8 ...
    atomicSub(&v[5], 1u);
  });
  EXPECT_EQ(v[0], 0u);
  EXPECT_EQ(v[1], all);
  EXPECT_EQ(v[2], all);
  EXPECT_EQ(v[3], 64u % 10);
  EXPECT_EQ(v[4], 1u);
  EXPECT_EQ(v[5], static_cast<unsigned>(-64));
}

TEST(CpuMath, integer_intrinsics) {
  EXPECT_EQ(__popc(0xf0f0u), 8);
  EXPECT_EQ(__clz(1), 31);
  EXPECT_EQ(__clz(0), 32);
  EXPECT_EQ(__clzll(-1), 0);
  EXPECT_EQ(__ffs(8), 4);
  EXPECT_EQ(__ffs(0), 0);
  EXPECT_EQ(__brev(1u), 0x80000000u);
  EXPECT_EQ(__byte_perm(0x33221100, 0x77665544, 0x7531), 0x77553311u);
  EXPECT_EQ(__funnelshift_l(0x80000000u, 1u, 1), 3u);
  EXPECT_EQ(__funnelshift_r(0x80000000u, 1u, 31), 3u);
  EXPECT_EQ(__umulhi(0x80000000u, 4u), 2u);
  EXPECT_EQ(__mul24(-3, 5), -15);
  EXPECT_EQ(__umul64hi(1ull << 63, 6), 3ull);
  EXPECT_EQ(min(3, 4u), 3u);
  EXPECT_EQ(max(2.5, 1.0f), 2.5);
  EXPECT_EQ(__float2int_rn(2.5f), 2);
  EXPECT_EQ(__float2int_rz(-2.7f), -2);
  EXPECT_EQ(__float2int_rd(-2.1f), -3);
  EXPECT_EQ(__double2int_ru(2.1), 3);
  EXPECT_EQ(__float2int_rn(1e30f), 2147483647);
  EXPECT_EQ(__float2uint_rn(-1.0f), 0u);
  EXPECT_EQ(__double2ull_rz(1.8446744073709552e19), ~0ull);
  EXPECT_EQ(__float_as_int(1.0f), 0x3f800000);
  EXPECT_EQ(__hiloint2double(0x3ff00000, 0), 1.0);
  EXPECT_FLOAT_EQ(rsqrtf(4.0f), 0.5f);
  EXPECT_FLOAT_EQ(__expf(1.0f), 2.7182817f);
  EXPECT_EQ(__saturatef(7.0f), 1.0f);
  EXPECT_EQ(__rhadd(2, 5), 4);
  double sine, cosine;
  sincospi(0.5, &sine, &cosine);
  EXPECT_EQ(sine, 1.0);
  EXPECT_NEAR(cosine, 0.0, 1e-15);
}
