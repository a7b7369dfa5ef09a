#!/usr/bin/env python3
"""Draws what gmpi-bench has written with --json: a picture for each table.

    gmpi-bench plot FILE.json... -o FILE.png
"""
import argparse
import json
import sys


class Parser(argparse.ArgumentParser):
    def error(self, message):
        self.exit(2, "gmpi-bench plot: %s\n" % message)


def options():
    parser = Parser(prog="gmpi-bench plot", usage="gmpi-bench plot FILE.json... -o FILE.png")
    parser.add_argument("files", nargs="+", metavar="FILE.json")
    parser.add_argument("-o", dest="output", required=True, metavar="FILE.png")
    return parser.parse_args()


def read(path):
    """[(the run's machine, table)]."""
    try:
        with open(path) as file:
            run = json.load(file)
        return [(run["machine"], table) for table in run["tables"]]
    except (OSError, ValueError, KeyError, TypeError) as error:
        sys.exit("gmpi-bench plot: '%s' is not what --json writes: %s" % (path, error))


def of_role(table, *roles):
    return [i for i, column in enumerate(table["columns"]) if column["role"] in roles]


def is_drawn(table):
    """Whether there is anything to draw."""
    values = of_role(table, "ours", "peer", "limit")
    return any(row[i] is not None for row in table["rows"] for i in values)


def middle(cell):
    return cell["median"] if isinstance(cell, dict) else cell


def span(cell):
    """How far the spread reaches below and above the median."""
    if not isinstance(cell, dict):
        return 0, 0
    return cell["median"] - cell["p10"], cell["p90"] - cell["median"]


def label(column):
    return "%s (%s)" % (column["name"], column["unit"]) if column["unit"] else column["name"]


def is_bytes(table, column):
    return table["columns"][column]["unit"] == "B"


def spans_decades(numbers):
    return bool(numbers) and min(numbers) > 0 and max(numbers) >= 8 * min(numbers)


COLOURS = ["tab:blue", "tab:orange", "tab:green", "tab:red", "tab:purple", "tab:brown", "tab:pink", "tab:gray",
           "tab:olive", "tab:cyan", "navy", "gold", "magenta", "lime", "maroon", "teal"]


def next_look(axes, role):
    """Limits are black or grey; no two of the others have the same colour."""
    names = axes.get_legend_handles_labels()[1]
    limits = sum(name.endswith("(limit)") for name in names)
    if role == "limit":
        return {"color": ["black", "grey", "saddlebrown"][limits % 3]}
    return {"color": COLOURS[(len(names) - limits) % len(COLOURS)]}


def size_name(size):
    """8, 64, 1 Ki, 16 Mi."""
    for unit in ["", " Ki", " Mi"]:
        if size < 1024 or size % 1024:
            return "%d%s" % (size, unit)
        size //= 1024
    return "%d Gi" % size


def draw_line(axes, table, column, places):
    """One column of the table, against its rows' places; a limit is dashed."""
    points = [(x, row[column]) for x, row in zip(places, table["rows"]) if row[column] is not None]
    if not points:
        return []
    heights = [middle(cell) for _, cell in points]
    spreads = [span(cell) for _, cell in points]
    role = table["columns"][column]["role"]
    name = table["columns"][column]["name"]
    style = {"ours": "o-", "peer": "s-", "limit": "--"}[role]
    axes.errorbar([x for x, _ in points], heights, yerr=list(zip(*spreads)), fmt=style, capsize=3,
                  markersize=4, label=name + (" (limit)" if role == "limit" else ""),
                  **next_look(axes, role))
    return heights


def draw(axes, machine, table):
    keys, values = of_role(table, "x"), of_role(table, "ours", "peer", "limit")
    sizes = [row[keys[0]] for row in table["rows"]]
    has_words = len(keys) > 1 or len(sizes) == 1
    places = list(range(len(sizes))) if has_words else sizes
    heights = [height for i in values for height in draw_line(axes, table, i, places)]
    axes.set_xlabel(", ".join(label(table["columns"][i]) for i in keys))
    axes.set_ylabel(unit_of(table, values))
    if has_words:
        axes.set_xticks(places, [" ".join(str(row[i]) for i in keys) for row in table["rows"]])
    elif spans_decades(sizes):
        axes.set_xscale("log", base=2)
        axes.set_xticks(sizes, [size_name(size) if is_bytes(table, keys[0]) else str(size) for size in sizes])
        axes.minorticks_off()
    if spans_decades(heights):
        axes.set_yscale("log")
    else:
        axes.set_ylim(bottom=min([0] + heights))
    library = machine["mpi"].split(",")[0]  # some go on about how they were built
    axes.set_title("%s\n%s, %s, %d rank%s" % (table["title"], machine["gpu"], library, machine["ranks"],
                                             "" if machine["ranks"] == 1 else "s"), fontsize=10)
    axes.grid(True, which="both", alpha=0.3)
    names = axes.get_legend_handles_labels()[1]
    beside = {"loc": "upper left", "bbox_to_anchor": (1, 1)}  # many names would lie upon their lines
    axes.legend(fontsize=8, **(beside if len(names) > 7 else {}))


def unit_of(table, values):
    units = {table["columns"][i]["unit"] for i in values}
    meanings = {"us": "time (us)", "GB/s": "bandwidth (GB/s)", "%": "share (%)"}
    return " / ".join(meanings.get(unit, unit) for unit in sorted(units))


def main():
    given = options()
    tables = [found for path in given.files for found in read(path)]
    tables = [found for found in tables if is_drawn(found[1])]
    if not tables:
        sys.exit("gmpi-bench plot: there is nothing to draw in these files.")
    try:
        import matplotlib
    except ImportError:
        sys.exit("gmpi-bench plot needs matplotlib (Debian: python3-matplotlib; else: pip install matplotlib).")
    matplotlib.use("Agg")
    from matplotlib import pyplot
    columns = 1 if len(tables) < 3 else 2
    rows = -(-len(tables) // columns)
    figure, all_axes = pyplot.subplots(rows, columns, figsize=(8 * columns, 5 * rows), squeeze=False,
                                       layout="constrained")
    for axes in all_axes.flat[len(tables):]:
        axes.set_axis_off()
    for axes, (machine, table) in zip(all_axes.flat, tables):
        draw(axes, machine, table)
    try:
        figure.savefig(given.output, dpi=120)
    except (OSError, ValueError) as error:
        sys.exit("gmpi-bench plot: '%s' cannot be written: %s" % (given.output, error))


if __name__ == "__main__":
    main()
