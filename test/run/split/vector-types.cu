// CUDA's vector types live across calls, alone, in structs and in arrays; aligned as CUDA aligns them.
// RUN: %gmpicxx %all-lowerings %s -o %t
// RUN: %each-lowering %ranks 1-3 %t
#include "../Inputs/shape.h"

struct Particle {
  float4 position;
  double2 charge;
  int3 cell;
};
struct alignas(32) Wide {
  double values[4];
};

template <class T> __device__ int misaligned(const T &object) {
  return reinterpret_cast<unsigned long long>(&object) % alignof(T) != 0;
}

__global__ void vectors(double *out, int rank) {
  int thread = blockIdx.x * blockDim.x + threadIdx.x;
  double4 four = make_double4(thread, 1, 2, 0.5 * thread);
  float4 floats = make_float4(1, 2, thread, 4);
  int3 three = make_int3(thread, 2 * thread, rank);
  uchar2 small = make_uchar2(thread % 200, 7);
  longlong2 big = make_longlong2(1ll << 40, thread);
  double2 uniform = make_double2(rank, 3);
  Particle particle{make_float4(thread, 0, 0, 1), make_double2(0.25, thread), make_int3(1, 2, thread)};
  float2 list[3] = {{1, 2}, {3, float(thread)}, {5, 6}};
  Wide wide{{1, 2, 3, thread * 1.0}};
  int wrong = 0;
  for (int step = 0; step < 2; ++step) {
    double sum;
    MPI_Allreduce(&uniform.x, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    four.w += sum;
    floats.z += 1;
    three.y += step;
    small.y *= 2;
    big.x += big.y;
    particle.charge.y += sum;
    list[thread % 3].y += 10;
    wide.values[step] += sum;
    wrong += misaligned(four) + misaligned(floats) + misaligned(particle) + misaligned(big) + misaligned(wide);
  }
  out[thread] = four.x + four.w + floats.z + three.x + three.y + three.z + small.x + small.y +
                double(big.x - (1ll << 40)) + particle.position.x + particle.charge.x + particle.charge.y +
                particle.cell.z + list[0].y + list[1].y + list[2].y + wide.values[0] + wide.values[1] +
                wide.values[3] + uniform.y + 1e6 * wrong;
}

static double serial(int thread) {
  double sum = test::size * (test::size - 1) / 2, t = thread;
  return t + (0.5 * t + 2 * sum) + (t + 2) + t + (2 * t + 1) + test::rank + thread % 200 + 28 + 2 * t + t + 0.25 +
         (t + 2 * sum) + t + (2 + t + 6 + 20) + (1 + sum) + (2 + sum) + t + 3;
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  test::check_shape<double>(
      "vector-types",
      [](double *out, int blocks, int threads) { vectors<<<blocks, threads>>>(out, test::rank); }, serial);
  return test::end();
}
