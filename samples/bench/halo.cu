// A step of a stencil code's halo exchange in two and three dimensions: faces are packed, traded
// with the neighbours in every direction, one after the other by MPI_Sendrecv or all at once, and
// unpacked, all in one kernel; beside the same with copies and MPI between two kernels.
#include "bench.h"

#include <algorithm>

using bench::Role;

/// A rank's cells, n in each dimension, with a layer of halo around them. Side 2 * d is the lower
/// one in dimension d, side 2 * d + 1 the upper one. Ranks at the rim have neighbours at the other
/// rim.
struct Halo {
  double *field, *out, *in; ///< out and in: the packed faces, side by side
  int dims, n, face;        ///< cells of a face
  int neighbour[6];         ///< by side
  int steps;
  MPI_Comm comm; ///< of the kernel's messages
};

/// Where cell k of the layer with this number across dimension d is.
__host__ __device__ static std::size_t place(int dims, int n, int d, int layer, int k) {
  std::size_t stride = 1, index = 0;
  for (int dimension = 0; dimension < dims; ++dimension, stride *= n + 2)
    if (dimension == d) {
      index += stride * layer;
    } else {
      index += stride * (k % n + 1);
      k /= n;
    }
  return index;
}

/// The outermost cells of every side.
__device__ static void pack(const double *field, double *out, int dims, int n, int face) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < 2 * dims * face;
       i += gridDim.x * blockDim.x) {
    int side = i / face, layer = side % 2 == 0 ? 1 : n;
    out[i] = field[place(dims, n, side / 2, layer, i % face)];
  }
}

/// What came from the neighbour on each side.
__device__ static void unpack(double *field, const double *in, int dims, int n, int face) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < 2 * dims * face;
       i += gridDim.x * blockDim.x) {
    int side = i / face, layer = side % 2 == 0 ? 0 : n + 1;
    field[place(dims, n, side / 2, layer, i % face)] = in[i];
  }
}

static __global__ void exchange(Halo h) {
  for (int step = 0; step < h.steps; ++step) {
    pack(h.field, h.out, h.dims, h.n, h.face);
    for (int side = 0; side < 2 * h.dims; ++side) {
      int from = side ^ 1; // what leaves by one side comes in by the opposite one
      MPI_Sendrecv(h.out + side * h.face, h.face, MPI_DOUBLE, h.neighbour[side], side,
                   h.in + from * h.face, h.face, MPI_DOUBLE, h.neighbour[from], side, h.comm,
                   MPI_STATUS_IGNORE);
    }
    unpack(h.field, h.in, h.dims, h.n, h.face);
  }
}

/// The same with all faces under way together.
static __global__ void exchange_at_once(Halo h) {
  for (int step = 0; step < h.steps; ++step) {
    pack(h.field, h.out, h.dims, h.n, h.face);
    MPI_Request requests[12];
    int sides = 2 * h.dims;
    for (int side = 0; side < sides; ++side) // what comes in by it has left by the opposite one
      MPI_Irecv(h.in + side * h.face, h.face, MPI_DOUBLE, h.neighbour[side], side ^ 1, h.comm,
                &requests[side]);
    for (int side = 0; side < sides; ++side)
      MPI_Isend(h.out + side * h.face, h.face, MPI_DOUBLE, h.neighbour[side], side, h.comm,
                &requests[sides + side]);
    MPI_Waitall(2 * sides, requests, MPI_STATUSES_IGNORE);
    unpack(h.field, h.in, h.dims, h.n, h.face);
  }
}

static __global__ void pack_kernel(Halo h) { pack(h.field, h.out, h.dims, h.n, h.face); }
static __global__ void unpack_kernel(Halo h) { unpack(h.field, h.in, h.dims, h.n, h.face); }

namespace {

void host_exchange(const Halo &h, double *out, double *in) {
  for (int side = 0; side < 2 * h.dims; ++side) {
    int from = side ^ 1;
    MPI_Sendrecv(out + side * h.face, h.face, MPI_DOUBLE, h.neighbour[side], side,
                 in + from * h.face, h.face, MPI_DOUBLE, h.neighbour[from], side, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
  }
}

struct Setting {
  int blocks, threads;
  double *out, *in; ///< the host's
  bench::Stream stream;
};

void classic(const Halo &h, const Setting &with) {
  std::size_t bytes = 2 * h.dims * h.face * sizeof(double);
  for (int step = 0; step < h.steps; ++step) {
    pack_kernel<<<with.blocks, with.threads, 0, with.stream>>>(h);
    CUDA_CHECK(cudaMemcpyAsync(with.out, h.out, bytes, cudaMemcpyDeviceToHost, with.stream));
    with.stream.synchronize();
    host_exchange(h, with.out, with.in);
    CUDA_CHECK(cudaMemcpyAsync(h.in, with.in, bytes, cudaMemcpyHostToDevice, with.stream));
    unpack_kernel<<<with.blocks, with.threads, 0, with.stream>>>(h);
  }
  with.stream.synchronize();
}

/// This rank's neighbours in a grid of all ranks, the last dimension counting fastest.
void find_neighbours(const bench::Bench &bench, Halo &h) {
  int extent[3] = {};
  MPI_Dims_create(bench.ranks, h.dims, extent);
  for (int d = 0, behind = bench.ranks; d < h.dims; ++d) {
    behind /= extent[d]; // ranks that differ by this are neighbours in dimension d
    int mine = bench.rank / behind % extent[d];
    auto rank_at = [&](int coordinate) {
      return bench.rank + (coordinate % extent[d] - mine) * behind;
    };
    h.neighbour[2 * d] = rank_at(mine + extent[d] - 1);
    h.neighbour[2 * d + 1] = rank_at(mine + 1);
  }
}

double value(int rank, std::size_t cell) { return 1e9 * (rank + 1) + double(cell); }

std::size_t cells(const Halo &h) {
  std::size_t count = 1;
  for (int d = 0; d < h.dims; ++d)
    count *= h.n + 2;
  return count;
}

/// Cells that are not what the neighbour has there; came(side, k) is what came for cell k.
template <class Came> std::size_t wrong_cells(const Halo &h, Came came) {
  std::size_t wrong = 0;
  for (int side = 0; side < 2 * h.dims; ++side)
    for (int k = 0; k < h.face; ++k) {
      int layer = side % 2 == 0 ? h.n : 1;
      wrong += came(side, k) != value(h.neighbour[side], place(h.dims, h.n, side / 2, layer, k));
    }
  return wrong;
}

/// Of the halo in the field.
std::size_t wrong_cells(const Halo &h) {
  std::vector<double> field = bench::read(h.field, cells(h));
  return wrong_cells(h, [&](int side, int k) {
    return field[place(h.dims, h.n, side / 2, side % 2 == 0 ? 0 : h.n + 1, k)];
  });
}

/// Microseconds of a step.
template <class Run>
bench::Sample measure(bench::Bench &bench, const Halo &h, const char *what, Run run) {
  std::vector<double> field(cells(h));
  for (std::size_t i = 0; i < field.size(); ++i)
    field[i] = value(bench.rank, i);
  bench::write(h.field, field);
  bench::Sample sample = bench.measure(h.steps, run);
  bench.wrong(what, wrong_cells(h), "cells");
  return sample;
}

void line(bench::Bench &bench, int dims, int n, const bench::KernelsComm &kernels) {
  Halo h = {nullptr, nullptr, nullptr, dims, n, dims == 2 ? n : n * n, {}, 0, MPI_COMM_WORLD};
  std::size_t bytes = h.face * sizeof(double), packed = 2 * dims * h.face;
  h.steps = bench.iterations(bytes, 50);
  find_neighbours(bench, h);
  bench::Array<double> field(cells(h)), out(packed), in(packed);
  bench::Array<double> host_out(packed, bench::Memory::pinned);
  bench::Array<double> host_in(packed, bench::Memory::pinned);
  h.field = field.data(), h.out = out.data(), h.in = in.data();
  Setting with = {bench.blocks(), bench.threads(), host_out.data(), host_in.data(), {}};
  auto in_turn = [&](const Halo &h, const char *lowering, const char *what) {
    bench::PreferredLowering preferred(lowering);
    return measure(bench, h, what, [&] {
      exchange<<<with.blocks, with.threads>>>(h);
      bench::synchronize();
    });
  };
  auto at_once = [&](const Halo &h, const char *what) {
    bench::PreferredLowering preferred("queue");
    return measure(bench, h, what, [&] {
      exchange_at_once<<<with.blocks, with.threads>>>(h);
      bench::synchronize();
    });
  };
  bench::Cell queue = in_turn(h, "queue", "queue"), queue_at_once = at_once(h, "queue, at once");
  bench::Cell split = in_turn(h, "split", "split");
  bench::Cell peer, peer_at_once;
  if (kernels.available()) {
    Halo among = h;
    among.comm = kernels.get();
    peer = in_turn(among, "queue", "peer");
    peer_at_once = at_once(among, "peer, at once");
  }
  bench::Cell by_hand = measure(bench, h, "classic", [&] { classic(h, with); });
  std::fill_n(with.in, packed, -1); // with.out is what classic has packed
  bench::Cell hosts = bench.measure(h.steps, [&] {
    for (int step = 0; step < h.steps; ++step)
      host_exchange(h, with.out, with.in);
  });
  auto came = [&](int side, int k) { return with.in[side * h.face + k]; };
  bench.wrong("host MPI", wrong_cells(h, came), "cells");
  bench.row({bytes, queue, queue_at_once, split, peer, peer_at_once, by_hand, hosts});
}

} // namespace

void experiments::halo(bench::Bench &bench) {
  bench::KernelsComm kernels;
  for (int dims : {2, 3}) {
    bench.table("Halo exchange in " + std::to_string(dims) + " dimensions, a step; " +
                    std::to_string(bench.ranks) + " ranks, grid of " +
                    std::to_string(bench.blocks()) + " blocks",
                {{"face", "B", Role::x},
                 {"queue", "us", Role::ours},
                 {"queue, at once", "us", Role::ours},
                 {"split", "us", Role::ours},
                 {"peer", "us", Role::ours},
                 {"peer, at once", "us", Role::ours},
                 {"classic", "us", Role::peer},
                 {"host MPI", "us", Role::limit}},
                kernels.why_not());
    int most = bench.options.integer("max", 1 << 19);
    for (int n = dims == 2 ? 16 : 8; (dims == 2 ? n : n * n) * 8 <= most && n <= 8192;
         n *= dims == 2 ? 4 : 2)
      line(bench, dims, n, kernels);
  }
}
