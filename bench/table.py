#!/usr/bin/env python3
"""Turns a file of measurements (JSON lines) into a page with tables: table.py IN OUT."""

import json
import sys

NAMES = dict(lorenz="Lorenz", vanderpol="Van der Pol, mu = 5", brusselator="Brusselator",
             figure_eight="3-body figure eight", linear="20 states, dense linear")
PEERS = dict(saltus="Saltus", heyoka="heyoka", cvode="CVODE Adams", scipy="SciPy DOP853", diffsol="diffsol Tsit45")


def span(seconds):
    for unit, size in (("s", 1), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def ratio(record):
    low, high = record["quartiles"]
    return f"**{record['ratio']:.3g}** ({low:.3g} .. {high:.3g})"


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


def equal_error(records):
    rows = []
    for r in records:
        start = [NAMES[r["problem"]], f"{r['level']:.0e}", PEERS[r["peer"]]]
        if "not_reached" in r:
            rows.append(start + [f"not reached by {PEERS[r['not_reached']]}"] + [""] * 5)
            continue
        rows.append(start + [span(r["ours_seconds"]), span(r["peer_seconds"]), ratio(r),
                             f"{r['ours_tolerance']:.1e} / {r['peer_tolerance']:.1e}",
                             f"{r['ours_steps']} / {r['peer_steps']}",
                             f"{span(r['ours_compile'])} / {span(r['peer_compile'])}"])
    return table(["problem", "error", "peer", "Saltus", "peer's time", "ratio", "tolerances", "steps", "compile time"], rows)


def same_tolerance(records):
    rows = []
    for problem in NAMES:
        for tolerance in (1e-6, 1e-10):
            for r in records:
                if r["problem"] == problem and abs(r["tolerance"] / tolerance - 1) < 1e-6:
                    rows.append([NAMES[problem], f"{tolerance:.0e}", PEERS[r["tool"]], span(r["cpu"]),
                                 f"{r['error']:.1e}", str(r["steps"])])
    return table(["problem", "asked", "tool", "time", "error", "steps"], rows)


def ball(records, whole):
    rows = []
    for r in records:
        if r["verdict"] != "right":
            rows.append([PEERS[r["peer"]], r["verdict"], "", "", "", ""])
            continue
        rows.append([PEERS[r["peer"]], span(r["ours_seconds"]), span(r["peer_seconds"]), ratio(r),
                     f"{r['error']:.0e}", span(r["peer_compile"])])
    text = table(["peer", "Saltus", "peer's time", "ratio", "peer's error", "peer's compile time"], rows)
    for r in whole:
        text += f"\nA complete call of `simulate`, preparing the model included, takes {span(r['seconds'])}."
        text += f" Error of the last state: {r['error']:.0e}.\n"
    return text


def bumper_cars(records):
    rows = []
    for r in records:
        name = PEERS[r["peer"]] + (f", {r['way']}" if "way" in r else "")
        if "ratio" not in r:
            rows.append([name, r["verdict"]] + [""] * 5)
            continue
        ours, theirs = r["ours"], r["theirs"]
        met = lambda tool: f"{tool['missed']} of {tool['events'] + tool['missed']}"
        verdict = ratio(r) if r["verdict"] == "right" else f"{r['ratio']:.3g}, does not count"
        rows.append([name, span(r["ours_seconds"]), span(r["peer_seconds"]), verdict, f"{met(ours)} / {met(theirs)}",
                     f"{ours['drift']:.0e} / {theirs['drift']:.0e}",
                     f"{span(r['ours_compile'])} / {span(r['peer_compile'])}"])
    return table(["peer", "Saltus", "peer's time", "ratio", "collisions missed", "drift", "compile time"], rows)


def cold(records):
    rows = []
    for r in records:
        if r["peer"] == "saltus":
            rows.append(["Saltus", span(r["seconds"]), ""])
        else:
            rows.append([PEERS[r["peer"]], span(r["peer_seconds"]), ratio(r)])
    return table(["tool", "processor time of the process", "Saltus / peer"], rows)


def main():
    records = [json.loads(line) for line in open(sys.argv[1])]
    kind = lambda name: [r for r in records if r["kind"] == name]
    m = kind("machine")[0]
    text = "# Measurements\n\n"
    text += f"Machine: {m['processor']}, {m['cores']} cores, {m['system']} {m['architecture']}; load when it began {m['load'][0]}.\n"
    text += f"Versions: {m['versions']}.\n\n" if m.get("versions") else "\n"
    text += "Times are processor times, medians of rounds in which the two tools take turns. A ratio is Saltus / peer, with quartiles; below 1 Saltus is faster, within 1.3 is a tie. Compile time is apart.\n"
    if kind("equal_error"):
        text += "\n## Smooth flows at equal error\n\nThe error is that of the last state, relative to its largest component.\n\n"
        text += equal_error(kind("equal_error"))
    if kind("ball"):
        text += "\n## Bouncing ball to t = 12, warm\n\n" + ball(kind("ball"), kind("ball_call"))
    if kind("cars"):
        text += "\n## Bumper cars: 20 cars, 100 s, tolerance 1e-4, warm\n\nMeans of all starts. Missed collisions are recounted from the tool's events in closed form; the drift is how far a car got off its arc between two events. The time of a tool that misses some does not count.\n\n"
        text += bumper_cars(kind("cars"))
    if kind("cold"):
        text += "\n## Bouncing ball, cold\n\nA new process; the peers' processes answer one request. heyoka finds its code in its cache on disk.\n\n" + cold(kind("cold"))
    if kind("sweep"):
        text += "\n## Smooth flows at the same asked tolerance\n\nSingle measurements.\n\n" + same_tolerance(kind("sweep"))
    open(sys.argv[2], "w").write(text)


main()
