"""Answers timing requests for heyoka: Taylor method, code by LLVM."""

import heyoka as hy
from cars_heyoka import cars
from problems import GRAVITY, MATRIX, N, RESTITUTION, START, T_END
from serve import serve


def lorenz():
    x, y, z = hy.make_vars("x", "y", "z")
    return [(x, 10.0 * (y - x)), (y, x * (28.0 - z) - y), (z, x * y - 8.0 / 3.0 * z)]


def vanderpol():
    x, y = hy.make_vars("x", "y")
    return [(x, y), (y, 5.0 * (1.0 - x * x) * y - x)]


def brusselator():
    x, y = hy.make_vars("x", "y")
    r = x * x * y
    return [(x, 1.0 + r - 4.0 * x), (y, 3.0 * x - r)]


def figure_eight():
    names = "x1 y1 x2 y2 x3 y3 u1 v1 u2 v2 u3 v3".split()
    x1, y1, x2, y2, x3, y3, u1, v1, u2, v2, u3, v3 = hy.make_vars(*names)
    x12, y12, x13, y13, x23, y23 = x2 - x1, y2 - y1, x3 - x1, y3 - y1, x3 - x2, y3 - y2
    k12, k13, k23 = ((a * a + b * b) ** -1.5 for a, b in ((x12, y12), (x13, y13), (x23, y23)))
    return [(x1, u1), (y1, v1), (x2, u2), (y2, v2), (x3, u3), (y3, v3),
            (u1, x12 * k12 + x13 * k13), (v1, y12 * k12 + y13 * k13),
            (u2, x23 * k23 - x12 * k12), (v2, y23 * k23 - y12 * k12),
            (u3, -x13 * k13 - x23 * k23), (v3, -y13 * k13 - y23 * k23)]


def linear():
    x = hy.make_vars(*[f"x{i}" for i in range(N)])
    return [(x[i], hy.sum([MATRIX[i][j] * x[j] for j in range(N) if MATRIX[i][j]])) for i in range(N)]


def prepare(problem, tolerance):
    if problem == "ball":
        return ball(tolerance)
    if problem in ("cars", "cars:cooldown"):
        return cars(tolerance, by_hand=problem == "cars:cooldown")
    start, t_end = START[problem], T_END[problem]
    integrator = hy.taylor_adaptive(globals()[problem](), start, tol=tolerance)

    def run():
        integrator.time = 0.0
        integrator.state[:] = start
        outcome = integrator.propagate_until(t_end)
        return integrator.state, outcome[3], 0

    return run


def ball(tolerance):
    x, v = hy.make_vars("x", "v")
    bounces = 0

    def bounce(integrator, _):
        nonlocal bounces
        bounces += 1
        integrator.state[0] = 0.0
        integrator.state[1] *= -RESTITUTION
        return True

    floor = hy.t_event(x, callback=bounce, direction=hy.event_direction.negative)
    flow = [(x, v), (v, hy.expression(-GRAVITY))]
    integrator = hy.taylor_adaptive(flow, START["ball"], tol=tolerance, t_events=[floor])

    def run():
        nonlocal bounces
        bounces = 0
        integrator.time = 0.0
        integrator.state[:] = START["ball"]
        integrator.reset_cooldowns()
        outcome = integrator.propagate_until(T_END["ball"])
        return integrator.state, outcome[3], bounces

    return run


serve(prepare)
