#!/usr/bin/env python3
"""Measures Saltus beside its peers and writes results/latest.md and results/latest.jsonl.

Every tool is a process that answers requests (see workers/): the measuring side alternates between
ours and the peer, round by round, and compares processor times. Two runs are compared at equal
achieved error: a sweep over tolerances tells between which two of them a tool's error against the
reference (references.json) is the wanted one, and its time there is interpolated between the two.
Answers that are wrong are not timed.
"""

import argparse
import json
import math
import os
import pathlib
import platform
import resource
import statistics
import subprocess
import sys
import tempfile

import cars

HERE = pathlib.Path(__file__).resolve().parent
SMOOTH = ["lorenz", "vanderpol", "brusselator", "figure_eight", "linear"]
LEVELS = [1e-6, 1e-10]
SWEEP = [10 ** (-k / 2) for k in range(4, 31)]
BALL_TOLERANCE = 1e-6
BALL_BOUNCES = 12
BALL_ERROR = 1e-5
BATCH_SECONDS = 4e-3
FRESH_PROCESSES = 5
# How each peer runs the cars: a name of the problem and what it means.
CARS_WAYS = dict(heyoka={"cars": "defaults", "cars:cooldown": "cooldown set to 1e-6 by hand"},
                 cvode={"cars": "defaults", "cars:short": "steps of at most 0.05 set by hand"})


class Tool:
    """A worker process."""

    def __init__(self, name, command, environment=None):
        self.name, self.command = name, command
        self.environment = {**os.environ, "OMP_NUM_THREADS": "1", **(environment or {})}
        self.process = None

    def ask(self, problem, tolerance, repeat=1, more=""):
        """One answer; None if the tool cannot do it. `more` are further words of the request."""
        if self.process is None:
            self.process = subprocess.Popen(self.command, env=self.environment, text=True, preexec_fn=pin,
                                            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.process.stdin.write(f"{problem} {tolerance:.6e} {repeat} {more}\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self.name} ended without an answer")
        answer = json.loads(line)
        return None if "error" in answer else answer

    def close(self):
        if self.process:
            self.process.stdin.close()
            self.process.wait()
            self.process = None


def pin():
    """Keeps a worker on one core, the same for all: cores that other work shares are not alike."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def error_of(answer, reference):
    """Largest difference of a state from the reference, relative to the largest state."""
    y = answer["y"]
    if len(y) != len(reference) or not all(map(math.isfinite, y)):
        return math.inf
    return max(abs(a - b) for a, b in zip(y, reference)) / max(map(abs, reference))


def repetitions(answer):
    once = answer["cpu"] / answer["repeat"]
    return max(1, min(2000, round(BATCH_SECONDS / max(once, 1e-9))))


def monotone(values):
    """The non-increasing sequence nearest to the given one (pooling neighbours)."""
    pools = []
    for value in values:
        pools.append([value, 1])
        while len(pools) > 1 and pools[-2][0] < pools[-1][0]:
            value, count = pools.pop()
            pools[-1] = [(pools[-1][0] * pools[-1][1] + value * count) / (pools[-1][1] + count),
                         pools[-1][1] + count]
    return [value for value, count in pools for _ in range(count)]


def bracket(points, level):
    """Two neighbours of a sweep between whose smoothed errors `level` lies, with the shares of
    their logarithms; the same point twice if the loosest is already better; None if not reached."""
    errors = monotone([math.log10(max(p["error"], 1e-17)) for p in points])
    target = math.log10(level)
    for i, error in enumerate(errors):
        if error <= target:
            before = max(i - 1, 0)
            share = (errors[before] - target) / (errors[before] - error) if errors[before] > target else 1.0
            return [(points[before], 1 - share), (points[i], share)]
    return None


def between(pair, value):
    """Logarithmic interpolation of a quantity of the two neighbours."""
    return math.exp(sum(share * math.log(value(point)) for point, share in pair))


def sweep(tool, problem, reference):
    points = []
    for tolerance in SWEEP:
        answer = tool.ask(problem, tolerance)
        if answer is None:
            continue
        error = error_of(answer, reference)
        answer = tool.ask(problem, tolerance, repetitions(answer))
        points.append(dict(tolerance=tolerance, error=error, cpu=answer["cpu"] / answer["repeat"],
                           steps=answer["steps"], compile=answer["compile"]))
        if error < 1e-15:
            break
    return points


def fresh_compile(tool, problem, tolerance, more=""):
    """Seconds of preparing, the median of some processes that find nothing prepared before: some
    tools keep compiled code in the user's cache folder, so each gets an empty one."""
    seconds = []
    for _ in range(FRESH_PROCESSES):
        with tempfile.TemporaryDirectory() as folder:
            fresh = Tool(tool.name, tool.command, {**tool.environment, "XDG_CACHE_HOME": folder})
            seconds.append(fresh.ask(problem, tolerance, more=more)["compile"])
            fresh.close()
    return statistics.median(seconds)


def once(tool, problem, tolerance, repeat):
    answer = tool.ask(problem, tolerance, repeat)
    return answer["cpu"] / answer["repeat"]


def paired(ours, peer, problem, brackets, rounds):
    """Times of both at equal error, alternating, each between its two neighbouring tolerances."""
    def tolerances(pair):
        return {point["tolerance"]: repetitions(dict(cpu=point["cpu"], repeat=1)) for point, _ in pair}

    times = ([], [])
    for _ in range(rounds):
        for k, tool in enumerate((ours, peer)):
            measured = {t: once(tool, problem, t, repeat) for t, repeat in tolerances(brackets[k]).items()}
            times[k].append(between(brackets[k], lambda point: measured[point["tolerance"]]))
    return compared(*times)


def compared(ours, peer):
    ratios = [a / b for a, b in zip(ours, peer)]
    low, middle, high = statistics.quantiles(ratios, n=4)
    return dict(ours_seconds=statistics.median(ours), peer_seconds=statistics.median(peer),
                ratio=middle, quartiles=[low, high], rounds=len(ratios))


def smooth(ours, peers, references, rounds, emit):
    for problem in SMOOTH:
        reference = references[problem]
        sweeps = {}
        for tool in [ours, *peers]:
            sweeps[tool.name] = sweep(tool, problem, reference)
            for point in sweeps[tool.name]:
                emit(dict(kind="sweep", problem=problem, tool=tool.name, **point))
        for level in LEVELS:
            own = bracket(sweeps[ours.name], level)
            for peer in peers:
                record = dict(kind="equal_error", problem=problem, level=level, peer=peer.name)
                theirs = bracket(sweeps[peer.name], level)
                if own is None or theirs is None:
                    record["not_reached"] = ours.name if own is None else peer.name
                    emit(record)
                    continue
                record.update(paired(ours, peer, problem, (own, theirs), rounds))
                for name, tool, pair in (("ours", ours, own), ("peer", peer, theirs)):
                    tolerance = between(pair, lambda point: point["tolerance"])
                    record[name + "_tolerance"] = tolerance
                    record[name + "_steps"] = round(between(pair, lambda point: point["steps"]))
                    record[name + "_compile"] = fresh_compile(tool, problem, tolerance)
                emit(record)


def ball(ours, peers, references, rounds, emit):
    def check(tool):
        answer = tool.ask("ball", BALL_TOLERANCE)
        if answer is None:
            return "no answer", None, None
        error = error_of(answer, references["ball"])
        right = error <= BALL_ERROR and answer["events"] == BALL_BOUNCES
        return "right" if right else "wrong", error, answer

    verdict, error, answer = check(ours)
    if verdict != "right":
        emit(dict(kind="ball", peer=ours.name, verdict=verdict, error=error))
        return
    whole = [ours.ask("ball:call", BALL_TOLERANCE, 50) for _ in range(rounds)]
    emit(dict(kind="ball_call", seconds=statistics.median(a["cpu"] / a["repeat"] for a in whole), error=error,
              steps=answer["steps"], compile=answer["compile"]))
    for peer in peers:
        verdict, error, answer = check(peer)
        record = dict(kind="ball", peer=peer.name, verdict=verdict, error=error)
        if verdict == "right":
            times = ([], [])
            repeats = [repetitions(tool.ask("ball", BALL_TOLERANCE, 10)) for tool in (ours, peer)]
            for _ in range(rounds):
                for k, tool in enumerate((ours, peer)):
                    times[k].append(once(tool, "ball", BALL_TOLERANCE, repeats[k]))
            record.update(compared(*times), peer_steps=answer["steps"],
                          peer_compile=fresh_compile(peer, "ball", BALL_TOLERANCE))
        emit(record)


def judged(tool, problem, requests):
    """Collisions met and missed over all starts; None if the tool cannot do it."""
    total = dict(events=0, missed=0, drift=0.0, steps=0)
    for more in requests:
        answer = tool.ask(problem, cars.TOLERANCE, more=f"log {more}")
        if answer is None:
            return None
        verdict = cars.judge(answer["log"])
        total["events"] += answer["events"]
        total["steps"] += answer["steps"]
        total["missed"] += verdict["missed"]
        total["drift"] = max(total["drift"], verdict["drift"])
    return total


def bumper_cars(ours, peers, starts, rounds, emit):
    """All starts are one round; in it the tools take turns start by start."""
    requests = [cars.words(start) for start in starts]
    own = judged(ours, "cars", requests)
    if own is None:
        emit(dict(kind="cars", peer=ours.name, verdict="no answer"))
        return
    compile_seconds = fresh_compile(ours, "cars", cars.TOLERANCE, requests[0])
    for peer in peers:
        for problem, way in CARS_WAYS.get(peer.name, {}).items():
            record = dict(kind="cars", peer=peer.name, way=way, starts=len(starts))
            theirs = judged(peer, problem, requests)
            if theirs is None:
                emit(dict(record, verdict="no answer"))
                continue
            times = ([], [])
            for _ in range(rounds):
                seconds = [[tool.ask(name, cars.TOLERANCE, more=more)["cpu"]
                            for tool, name in ((ours, "cars"), (peer, problem))] for more in requests]
                for k in range(2):
                    times[k].append(sum(pair[k] for pair in seconds) / len(requests))
            record.update(compared(*times), verdict="misses" if own["missed"] or theirs["missed"] else "right", ours=own,
                          theirs=theirs, ours_compile=compile_seconds,
                          peer_compile=fresh_compile(peer, problem, cars.TOLERANCE, requests[0]))
            emit(record)


def cold_time(command, text, environment, folder):
    """Processor seconds of a process from start to exit."""
    with tempfile.TemporaryFile("w+") as given:
        given.write(text)
        given.seek(0)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(command, stdin=given, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                              env=environment, cwd=folder)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        return None
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def cold(binary, model, peers, rounds, emit):
    """A new process for each run: the binary on a model file, the peers' workers on one request."""
    if not (binary and pathlib.Path(binary).exists() and model.exists()):
        print("cold start: skipped, no `saltus` binary or no example", file=sys.stderr)
        return
    command = [binary, "run", str(model), "--quiet"]
    with tempfile.TemporaryDirectory() as folder:
        if cold_time(command, "", None, folder) is None:
            print("cold start: skipped, `saltus run` does not succeed", file=sys.stderr)
            return
        request = f"ball {BALL_TOLERANCE:.6e} 1\n"
        own = [cold_time(command, "", None, folder) for _ in range(rounds)]
        emit(dict(kind="cold", peer="saltus", seconds=statistics.median(own)))
        for peer in peers:
            times = ([], [])
            for _ in range(rounds if peer.name in ("cvode", "diffsol") else max(5, rounds // 3)):
                times[0].append(cold_time(command, "", None, folder))
                times[1].append(cold_time(peer.command, request, peer.environment, folder))
            emit(dict(kind="cold", peer=peer.name, **compared(*times)))


def machine():
    model = platform.processor()
    try:
        for line in open("/proc/cpuinfo"):
            if line.startswith("model name"):
                model = line.split(":")[1].strip()
                break
    except OSError:
        pass
    return dict(kind="machine", processor=model, cores=os.cpu_count(), system=platform.system(),
                architecture=platform.machine(), load=[round(x, 1) for x in os.getloadavg()])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ours", required=True, help="worker of Saltus")
    parser.add_argument("--binary", help="the program `saltus`, for cold starts")
    parser.add_argument("--cvode", help="worker of CVODE")
    parser.add_argument("--cvode-libraries", default="")
    parser.add_argument("--diffsol", help="worker of diffsol")
    parser.add_argument("--python", help="Python with heyoka or SciPy")
    parser.add_argument("--with", dest="packages", default="", help="which of heyoka,scipy are there")
    parser.add_argument("--versions", default="", help="versions of the peers, for the report")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--only", default="smooth,ball,cars,cold")
    parser.add_argument("--starts", help="file with starts of the cars in place of random ones")
    parser.add_argument("--out", default=str(HERE / "results"))
    choice = parser.parse_args()

    references = {k: [float(x) for x in v] for k, v in json.loads((HERE / "references.json").read_text()).items()}
    ours = Tool("saltus", [choice.ours])
    peers = []
    for name in ("heyoka", "scipy"):
        if name in choice.packages.split(","):
            peers.append(Tool(name, [choice.python, str(HERE / "workers" / "python" / f"{name}_worker.py")]))
    if choice.cvode:
        environment = {"LD_LIBRARY_PATH": choice.cvode_libraries} if choice.cvode_libraries else None
        peers.insert(1, Tool("cvode", [choice.cvode], environment))
    ball_peers = peers + ([Tool("diffsol", [choice.diffsol])] if choice.diffsol else [])

    records = [dict(machine(), versions=choice.versions)]
    def emit(record):
        records.append(record)
        if record["kind"] != "sweep":
            print(json.dumps(record), file=sys.stderr)

    parts = choice.only.split(",")
    if "smooth" in parts:
        smooth(ours, peers, references, choice.rounds, emit)
    if "ball" in parts:
        ball(ours, ball_peers, references, choice.rounds, emit)
    if "cars" in parts:
        bumper_cars(ours, peers, cars.starts(choice.starts), choice.rounds, emit)
    for tool in [ours, *ball_peers]:
        tool.close()
    if "cold" in parts:
        cold(choice.binary, HERE.parent / "examples" / "bouncing_ball.salt", ball_peers, choice.rounds, emit)

    out = pathlib.Path(choice.out)
    out.mkdir(exist_ok=True)
    (out / "latest.jsonl").write_text("".join(json.dumps(r) + "\n" for r in records))
    subprocess.run([sys.executable, str(HERE / "table.py"), str(out / "latest.jsonl"), str(out / "latest.md")], check=True)
    print((out / "latest.md").read_text())


main()
