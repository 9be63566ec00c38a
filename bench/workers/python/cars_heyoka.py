"""Bumper cars by heyoka: a terminal event for each pair of cars and for each wall of each car.

After an event heyoka ignores it for a cooldown that it derives from the speed of the guard and the
tolerance. At a tolerance of 1e-4 that is long enough for the next collision of the same two to be
overlooked; `by_hand` sets the shortest that still keeps an event from being found twice.
"""

import math
import pathlib
import sys

import heyoka as hy

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
from cars import BOX, CARS, RADIUS, RESTITUTION, T_END  # noqa: E402

COOLDOWN = 1e-6


class Box:
    """The callbacks of the events, with what they count and log. `state` and `pars` are views of the
    integrator's memory, taken once because each taking costs as much as the arithmetic."""

    def __init__(self):
        self.events, self.log, self.state, self.pars = 0, None, None, None

    def note(self, time):
        """Appends what holds now to the log, if there is one."""
        if self.log is not None:
            self.log.append([time, self.state.tolist(), self.pars.tolist()])

    def happened(self, integrator):
        self.events += 1
        if self.log is not None:
            self.note(integrator.time)
        return True

    def wall(self, i, axis):
        def callback(integrator, _):
            velocity = self.velocity(i)
            velocity[axis] *= -RESTITUTION
            self.drive(i, *velocity)
            return self.happened(integrator)

        return callback

    def pair(self, i, j):
        def callback(integrator, _):
            at = self.state.item
            (ux, uy), (vx, vy) = self.velocity(i), self.velocity(j)
            dx, dy = at(j) - at(i), at(CARS + j) - at(CARS + i)
            share = (1 + RESTITUTION) / 2 * ((ux - vx) * dx + (uy - vy) * dy) / (dx * dx + dy * dy)
            self.drive(i, ux - share * dx, uy - share * dy)
            self.drive(j, vx + share * dx, vy + share * dy)
            return self.happened(integrator)

        return callback

    def velocity(self, i):
        speed, heading = self.pars.item(i), self.state.item(2 * CARS + i)
        return [speed * math.cos(heading), speed * math.sin(heading)]

    def drive(self, i, vx, vy):
        """Sends a car off with a velocity, turning the other way."""
        self.pars[i] = math.hypot(vx, vy)
        self.state[2 * CARS + i] = math.atan2(vy, vx)
        self.pars[CARS + i] = -self.pars.item(CARS + i)


def guards(box, x, y):
    """Pairs of a guard, which becomes negative, and what then happens."""
    for i in range(CARS):
        for axis, place in enumerate((x[i], y[i])):
            yield place - RADIUS, box.wall(i, axis)
            yield BOX - RADIUS - place, box.wall(i, axis)
        for j in range(i + 1, CARS):
            apart = (x[i] - x[j]) ** 2 + (y[i] - y[j]) ** 2
            yield apart - 4 * RADIUS**2, box.pair(i, j)


def cars(tolerance, by_hand):
    x, y, th = (hy.make_vars(*[f"{name}{i}" for i in range(CARS)]) for name in ("x", "y", "th"))
    flow = [(x[i], hy.par[i] * hy.cos(th[i])) for i in range(CARS)]
    flow += [(y[i], hy.par[i] * hy.sin(th[i])) for i in range(CARS)]
    flow += [(th[i], hy.par[CARS + i]) for i in range(CARS)]
    box = Box()
    more = dict(cooldown=COOLDOWN) if by_hand else {}
    falling = hy.event_direction.negative
    events = [hy.t_event(g, callback=act, direction=falling, **more) for g, act in guards(box, x, y)]
    integrator = hy.taylor_adaptive(flow, [0.0] * (3 * CARS), tol=tolerance, pars=[0.0] * (2 * CARS),
                                    t_events=events)

    box.state, box.pars = integrator.state, integrator.pars

    def run(start, log=None):
        box.events, box.log = 0, log
        integrator.time = 0.0
        for k, name in enumerate(("x", "y", "th")):
            box.state[k * CARS:(k + 1) * CARS] = [start[f"{name}[{i}]"] for i in range(1, CARS + 1)]
        for k, name in enumerate("vw"):
            box.pars[k * CARS:(k + 1) * CARS] = [start[f"{name}[{i}]"] for i in range(1, CARS + 1)]
        integrator.reset_cooldowns()
        box.note(0.0)
        outcome = integrator.propagate_until(T_END)
        box.note(integrator.time)
        return box.state, outcome[3], box.events

    return run
