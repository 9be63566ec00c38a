"""Answers timing requests for SciPy: solve_ivp with DOP853."""

import warnings

import numpy as np
from problems import GRAVITY, MATRIX, RESTITUTION, START, T_END
from scipy.integrate import solve_ivp
from serve import serve

A = np.array(MATRIX)


def lorenz(t, s):
    x, y, z = s
    return 10 * (y - x), x * (28 - z) - y, x * y - 8 / 3 * z


def vanderpol(t, s):
    x, y = s
    return y, 5 * (1 - x * x) * y - x


def brusselator(t, s):
    x, y = s
    r = x * x * y
    return 1 + r - 4 * x, 3 * x - r


def figure_eight(t, s):
    x1, y1, x2, y2, x3, y3, u1, v1, u2, v2, u3, v3 = s.tolist()
    x12, y12, x13, y13, x23, y23 = x2 - x1, y2 - y1, x3 - x1, y3 - y1, x3 - x2, y3 - y2
    k12, k13, k23 = ((a * a + b * b) ** -1.5 for a, b in ((x12, y12), (x13, y13), (x23, y23)))
    return (u1, v1, u2, v2, u3, v3, x12 * k12 + x13 * k13, y12 * k12 + y13 * k13,
            x23 * k23 - x12 * k12, y23 * k23 - y12 * k12, -x13 * k13 - x23 * k23, -y13 * k13 - y23 * k23)


def linear(t, s):
    return A @ s


def fall(t, s):
    return s[1], -GRAVITY


def floor(t, s):
    return s[0]


floor.terminal, floor.direction = True, -1


def prepare(problem, tolerance):
    if problem == "ball":
        return lambda: ball(tolerance)
    flow, start, t_end = globals()[problem], START[problem], T_END[problem]

    def run():
        solution = solve_ivp(flow, (0, t_end), start, method="DOP853", rtol=tolerance, atol=tolerance)
        if solution.status != 0:
            raise RuntimeError(solution.message)
        return solution.y[:, -1], len(solution.t) - 1, 0

    return run


def ball(tolerance):
    t, y, steps, bounces = 0.0, START["ball"], 0, 0
    while True:
        part = solve_ivp(fall, (t, T_END["ball"]), y, method="DOP853", events=floor, rtol=tolerance,
                         atol=1e-3 * tolerance)
        steps += len(part.t) - 1
        t, y = part.t[-1], part.y[:, -1]
        if part.status != 1 or bounces > 1000:
            return y, steps, bounces
        bounces += 1
        y = [0.0, -RESTITUTION * y[1]]


warnings.simplefilter("error")
serve(prepare)
