#!/usr/bin/env python3
"""Bumper cars: random starts, and the collisions that a run missed.

Cars drive arcs between events, so what happened between two lines of an event log is known in closed
form, whatever made it: `judge` follows all pairs of cars and all walls along the arcs and counts
overlaps that no event ended. `cars.py [--starts FILE]` prints the starts as requests name them, one
line each; `cars.py --check LOG...` judges logs, `cars.py --log WORKER FOLDER` writes those of a worker,
one line for each instant: time, states, speeds, turn rates.
"""

import argparse
import json
import math
import pathlib
import random
import subprocess

CARS, BOX, RADIUS, RESTITUTION, T_END = 20, 10.0, 0.1, 0.9, 100.0
TOLERANCE = 1e-4
STARTS, SEED = 10, 2007
SPEED, TURN = (0.5, 1.5), (0.02, 0.2)
APART = 0.05
# An overlap this deep is a collision missed: a tenth of a radius, as much as the least exact tool
# drifts off its arcs at most.
DEEP = 1e-2
# Overlaps are known to this fraction of `DEEP`.
RESOLUTION = 1e-3


def random_starts():
    """Cars `(x, y, heading, speed, turn rate)` at least `APART` from each other and the walls, turning
    left or right."""
    source = random.Random(SEED)
    return [one_start(source) for _ in range(STARTS)]


def one_start(source):
    edge, cars = RADIUS + APART, []
    while len(cars) < CARS:
        x, y = source.uniform(edge, BOX - edge), source.uniform(edge, BOX - edge)
        heading, speed = source.uniform(-math.pi, math.pi), source.uniform(*SPEED)
        turn = source.uniform(*TURN) * (1 if source.random() < 0.5 else -1)
        if all(math.hypot(x - c[0], y - c[1]) > 2 * RADIUS + APART for c in cars):
            cars.append((x, y, heading, speed, turn))
    return cars


def starts(path=None):
    """Random starts, or those of a file: under `initial` and the number of cars a list of starts, each
    a list of cars."""
    if path is None:
        return random_starts()
    return json.loads(pathlib.Path(path).read_text())["initial"][str(CARS)]


def words(start):
    """Starting values as a request gives them."""
    return " ".join(f"{name}[{i}]={value!r}" for i, car in enumerate(start, 1)
                    for name, value in zip(("x", "y", "th", "v", "w"), car))


class Arc:
    """The way of one car after an event."""

    def __init__(self, x, y, heading, speed, turn):
        self.x, self.y, self.heading, self.speed, self.turn = x, y, heading, speed, turn

    def place(self, s):
        """Where it is after `s` seconds: along a chord of the arc."""
        half = 0.5 * self.turn * s
        chord = self.speed * s * (math.sin(half) / half if half else 1.0)
        return self.x + chord * math.cos(self.heading + half), self.y + chord * math.sin(self.heading + half)

    def to_wall(self, side, duration):
        """The least distance from a wall during the arc, and that at its start: 0 left, 1 top, 2 right,
        3 bottom, that is a wall in the direction of 180, 90, 0, -90 degrees. It is least at an end or
        where the car drives along the wall."""
        outwards = math.pi * (1 - side / 2)
        times = [0.0, duration]
        if self.turn:
            period = 2 * math.pi / abs(self.turn)
            along = [(outwards + quarter * math.pi / 2 - self.heading) / self.turn % period for quarter in (-1, 1)]
            times += [t for t in along if t < duration]
        c, s = math.cos(outwards), math.sin(outwards)
        middle = BOX / 2
        gaps = [middle - RADIUS - ((x - middle) * c + (y - middle) * s) for x, y in map(self.place, times)]
        return min(gaps), gaps[0]


def pair_gap(a, b, duration):
    """The least gap of two cars during their arcs, as far as it is below `-DEEP`, and that at the
    start. No gap closes faster than the sum of the speeds, so each look says when to look next."""
    slack, s, least, first = RESOLUTION * DEEP, 0.0, math.inf, None
    closing = a.speed + b.speed
    while True:
        (ax, ay), (bx, by) = a.place(s), b.place(s)
        gap = math.hypot(ax - bx, ay - by) - 2 * RADIUS
        first = gap if first is None else first
        least = min(least, gap)
        if s >= duration or closing == 0:
            return least, first
        s = min(duration, s + max(gap + DEEP, slack) / closing)


def judge(log):
    """What a log `[time, states, speeds and turn rates]` shows: instants with events, missed
    collisions, and how far cars were from the ends of their arcs."""
    missed, drift = 0, 0.0
    instants = 0
    for (t, states, rates), (then, after, _) in zip(log, log[1:]):
        duration = then - t
        if duration <= 0:
            continue
        instants += 1
        columns = [(states + rates)[k * CARS:(k + 1) * CARS] for k in range(5)]
        arcs = [Arc(*car) for car in zip(*columns)]
        for i, arc in enumerate(arcs):
            x, y = arc.place(duration)
            drift = max(drift, math.hypot(x - after[i], y - after[CARS + i]))
        gaps = [arc.to_wall(side, duration) for arc in arcs for side in range(4)]
        gaps += [pair_gap(a, b, duration) for i, a in enumerate(arcs) for b in arcs[i + 1:]]
        missed += sum(first > -DEEP > least for least, first in gaps)
    return dict(instants=instants - 1, missed=missed, drift=drift)


def write_logs(worker, folder, path):
    """Runs all starts by a worker and writes their logs."""
    requests = "".join(f"cars {TOLERANCE:e} 1 log {words(start)}\n" for start in starts(path))
    done = subprocess.run(worker.split(), input=requests, capture_output=True, text=True, check=True)
    for k, line in enumerate(done.stdout.splitlines()):
        log = [[t, states, rates[:CARS], rates[CARS:]] for t, states, rates in json.loads(line)["log"]]
        pathlib.Path(folder, f"cars{k}.jsonl").write_text("".join(json.dumps(entry) + "\n" for entry in log))


def read_log(path):
    lines = map(json.loads, pathlib.Path(path).read_text().splitlines())
    return [(t, states, speeds + turns) for t, states, speeds, turns in lines]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--starts", help="file with starts in place of random ones")
    parser.add_argument("--check", nargs="+", metavar="LOG")
    parser.add_argument("--log", nargs=2, metavar=("WORKER", "FOLDER"))
    choice = parser.parse_args()
    if choice.check:
        for path in choice.check:
            print(json.dumps(dict(log=path, **judge(read_log(path)))))
    elif choice.log:
        write_logs(*choice.log, choice.starts)
    else:
        for start in starts(choice.starts):
            print(words(start))


if __name__ == "__main__":
    main()
