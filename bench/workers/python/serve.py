"""The request loop shared by the Python workers.

Each line of standard input asks `problem tolerance repetitions`; each line of the answer is one
JSON object with the processor seconds of all repetitions and the final state of the last one.
Starting values, `name=value`, may follow, and the word `log`, which asks for one more run and the
configurations it passes.
"""

import json
import sys
import time


def serve(prepare):
    """Answers requests; `prepare(problem, tolerance)` gives a function that runs the problem once
    and returns the final state, the number of steps and of events. If a request has more words, the
    function gets a dictionary of starting values, and `log=` a list to be filled."""
    known = {}
    for line in sys.stdin:
        problem, tolerance, repeat, *words = line.split()
        try:
            print(json.dumps(answer(prepare, known, problem, float(tolerance), int(repeat), words)), flush=True)
        except Exception as why:  # a peer may refuse a tolerance in any way it likes
            print(json.dumps(dict(error=repr(why)[:200])), flush=True)


def answer(prepare, known, problem, tolerance, repeat, words):
    key = problem, tolerance
    if key not in known:
        started = time.process_time()
        known[key] = prepare(problem, tolerance), time.process_time() - started
    run, compile_seconds = known[key]
    values = {name: float(value) for name, value in (word.split("=") for word in words if word != "log")}
    given = [values] if values else []
    started = time.process_time()
    for _ in range(repeat):
        y, steps, events = run(*given)
    cpu = time.process_time() - started
    result = dict(cpu=cpu, repeat=repeat, compile=compile_seconds, steps=steps, events=events,
                  y=[float(x) for x in y])
    if "log" in words:
        result["log"] = []
        run(*given, log=result["log"])
    return result
