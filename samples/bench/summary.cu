// All in one table: what a message and a collective call take in a kernel, each by the fastest of
// its ways, and what they take without MPI in kernels. The figures are those of the experiments
// pingpong and collectives, made here for a few sizes.
#include "bench.h"

using bench::Cell;
using bench::Role;
using bench::Table;

namespace {

/// Nothing where the table has no such column.
Cell cell(const Table &table, const std::vector<Cell> &row, const std::string &name) {
  for (std::size_t i = 0; i < row.size(); ++i)
    if (table.columns[i].name == name)
      return row[i];
  return {};
}

/// What bare stores from GPU to GPU take; nothing where they are no limit.
Cell bare(const Table &table, const std::vector<Cell> &row) {
  for (const char *name : {"bare packets, block", "bare packets", "bare stores, grid"})
    if (const Cell found = cell(table, row, name); found.kind != Cell::Kind::none)
      return found;
  return {};
}

/// The least of the cells of one row, and its way.
struct Fastest {
  Cell time, way;
};

/// Of the columns that are named `scope`, as "grid, ", and a way behind it.
Fastest fastest(const Table &table, const std::vector<Cell> &row, const std::string &scope) {
  Fastest found;
  for (const char *way : {"queue", "split", "peer"}) {
    const Cell time = cell(table, row, scope + way);
    if (time.kind != Cell::Kind::none &&
        (found.time.kind == Cell::Kind::none || time.sample.median < found.time.sample.median))
      found = {time, way};
  }
  return found;
}

/// A row of the summary for each of another table's, whose grid's columns are named `grid` and a
/// way.
void add(bench::Bench &bench, const char *what, const Table &table, const std::string &grid) {
  for (const std::vector<Cell> &row : table.rows) {
    const Fastest by_grid = fastest(table, row, grid), by_block = fastest(table, row, "block, ");
    const Cell classic = cell(table, row, "classic");
    bench.row({what, row[0], by_grid.time, by_grid.way, by_block.time, by_block.way, classic,
               classic.sample.median / by_grid.time.sample.median,
               cell(table, row, "GPU-aware MPI"), cell(table, row, "NCCL"),
               cell(table, row, "NVSHMEM, block"), bare(table, row)});
  }
}

} // namespace

void experiments::summary(bench::Bench &bench) {
  bench::Options options = bench.options;
  const double most = options.number("max", 16 << 20);
  for (std::size_t bytes : {8, 1 << 10, 64 << 10, 1 << 20, 16 << 20})
    if (double(bytes) <= most || options.sizes.empty())
      options.sizes.push_back(bytes);
  const std::vector<Table> pingpong = bench.tables_of(experiments::pingpong, options);
  bench.table("A message, one way, and collective calls: MPI in kernels, by the fastest of its "
              "ways, and without; grid: " +
                  std::to_string(bench.blocks()) + " blocks",
              {{"what", "", Role::x},
               {"size", "B", Role::x},
               {"grid", "us", Role::ours},
               {"by", "", Role::info},
               {"block", "us", Role::ours},
               {"by", "", Role::info},
               {"classic", "us", Role::peer},
               {"classic / grid", "", Role::info},
               {"GPU-aware MPI", "us", Role::peer},
               {"NCCL", "us", Role::peer},
               {"NVSHMEM, block", "us", Role::peer},
               {"bare stores", "us", Role::limit}},
              pingpong.front().note);
  add(bench, "message", pingpong.front(), "grid, ");
  for (const Table &table : bench.tables_of(experiments::collectives, options)) {
    const std::size_t begin = std::string("MPI_").size(); // as in "MPI_Bcast, 2 ranks"
    const std::string name = table.title.substr(begin, table.title.find(',') - begin);
    add(bench, name.c_str(), table, "");
  }
}
