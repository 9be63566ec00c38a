#!/usr/bin/env python3
"""Writes references.json: final states of the problems to 30 digits, by Taylor series in 60-digit
arithmetic (needs mpmath). Each problem is solved with two orders and step sizes; they must agree."""

import json
import pathlib
import sys

from mpmath import mp, mpf, nstr, sqrt

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE / "workers" / "python"))
from problems import GRAVITY, MATRIX, N, RESTITUTION, START, T_END  # noqa: E402

mp.dps = 60


def times(a, b, k):
    """Coefficient k of a product."""
    return sum((a[j] * b[k - j] for j in range(k + 1)), mpf(0))


def power(s, e, u, k):
    """Coefficient k of s^e, whose earlier coefficients are u."""
    if k == 0:
        return s[0] ** e
    return sum(((e * (k - j) - j) * s[k - j] * u[j] for j in range(k)), mpf(0)) / (k * s[0])


def lorenz(y, k, memory):
    return [10 * (y[1][k] - y[0][k]), 28 * y[0][k] - times(y[0], y[2], k) - y[1][k],
            times(y[0], y[1], k) - mpf(8 / 3) * y[2][k]]


def vanderpol(y, k, memory):
    square = memory.setdefault("square", [])
    square.append(times(y[0], y[0], k))
    return [y[1][k], 5 * (y[1][k] - times(square, y[1], k)) - y[0][k]]


def brusselator(y, k, memory):
    square = memory.setdefault("square", [])
    square.append(times(y[0], y[0], k))
    r = times(square, y[1], k)
    return [(1 if k == 0 else 0) + r - 4 * y[0][k], 3 * y[0][k] - r]


def figure_eight(y, k, memory):
    force = [mpf(0)] * 6
    for a, b in ((0, 1), (0, 2), (1, 2)):
        x, z, s, u = memory.setdefault((a, b), ([], [], [], []))
        x.append(y[2 * b][k] - y[2 * a][k])
        z.append(y[2 * b + 1][k] - y[2 * a + 1][k])
        s.append(times(x, x, k) + times(z, z, k))
        u.append(power(s, mpf(-1.5), u, k))
        fx, fz = times(x, u, k), times(z, u, k)
        force[2 * a] += fx
        force[2 * a + 1] += fz
        force[2 * b] -= fx
        force[2 * b + 1] -= fz
    return [y[6 + i][k] for i in range(6)] + force


def linear(y, k, memory):
    return [sum((mpf(MATRIX[i][j]) * y[j][k] for j in range(N)), mpf(0)) for i in range(N)]


def solve(problem, order, accuracy):
    """The final state; each step keeps the last coefficients below `accuracy`."""
    flow = globals()[problem]
    state, t, t_end = [mpf(x) for x in START[problem]], mpf(0), mpf(T_END[problem])
    while t < t_end:
        y, memory = [[x] for x in state], {}
        for k in range(order):
            for row, rate in zip(y, flow(y, k, memory)):
                row.append(rate / (k + 1))
        size = max(max(abs(row[order]) ** (mpf(1) / order), abs(row[order - 1]) ** (mpf(1) / (order - 1)))
                   for row in y)
        h = min(mpf(accuracy) ** (mpf(1) / order) / size, t_end - t)
        state = [mp.polyval(row[::-1], h) for row in y]
        t += h
    return state


def ball():
    """The last flight of the ball in closed form."""
    g, e = mpf(GRAVITY), mpf(RESTITUTION)
    speed = sqrt(2 * g * mpf(START["ball"][0])) * e
    t = sqrt(2 * mpf(START["ball"][0]) / g)
    while t + 2 * speed / g < T_END["ball"]:
        t += 2 * speed / g
        speed *= e
    s = T_END["ball"] - t
    return [speed * s - g * s * s / 2, speed - g * s]


def main():
    answers = dict(ball=ball())
    for problem in START:
        if problem != "ball":
            first, second = solve(problem, 40, "1e-45"), solve(problem, 46, "1e-48")
            difference = max(abs(a - b) for a, b in zip(first, second))
            assert difference < mpf("1e-32"), (problem, difference)
            answers[problem] = second
    texts = {name: [nstr(x, 30) for x in y] for name, y in answers.items()}
    (HERE / "references.json").write_text(json.dumps(texts, indent=1) + "\n")


main()
