//! What the command says about itself.

/// The name and version of the program.
pub fn version() -> String {
    format!("saltus {}\n", env!("CARGO_PKG_VERSION"))
}

/// `saltus --help`.
pub const OVERVIEW: &str = "\
saltus simulates systems that flow and jump

usage: saltus COMMAND ...

  run FILE      simulate a model: summary, table, picture
  check FILE    tell what a model is, with every error and warning
  graph FILE    draw the hierarchy and the automata of a model
  reproduce     recompute the tables and figures of papers

  saltus COMMAND --help    the options of a command, with examples
  saltus --version

example: saltus run examples/bouncing_ball.salt
";

/// `saltus run --help`.
pub const RUN: &str = "\
usage: saltus run FILE [OPTIONS]

Simulates the model in FILE. Without options, the `run` block of the model says how long and what
is drawn; a model that asks for plots gets a picture in the current directory, named after FILE.

which model, which values
  --model NAME          one of several models in FILE
  --set PATH=VALUE      a parameter, or the starting value of a state or memory (repeatable)

how it runs
  --until T             stop time
  --rtol R, --atol A    relative and absolute tolerance (1e-6, 1e-9)
  --solver NAME         taylor (the default, also auto), adams, rk, or with a fixed step euler, rk4
  --order N             order of the Taylor method, 2 to 40 (from the tolerance)
  --step H              step of euler and rk4
  --max-step H          no step is longer than this
  --events METHOD       how events are found:
    extrapolation       before the step, on the prediction: misses no root of the computed
                        polynomial, never evaluates outside the domain (taylor, adams, euler)
    certified           the same, proved for the true flow from the computed point (taylor)
    validated           and the local error proved (taylor)
    interpolation       after the step, on its polynomial; `sturm`: roots counted by Sturm
    endpoint            signs at the ends of steps only; misses what crosses twice
    printed             extrapolation as Esposito and Kumar print it, for comparison (adams)
  --guards FORM         guards on a prediction of adams: composed (the default), or for comparison
                        appended (states of their own), linearised
  --gamma G             share of a guard left after a step towards it, 0 to 1
  --guard-tolerance E   a guard this small counts as reached
  --min-step H          an event this near is met without another step
  --policy P            what `may` and intervals do: eager (default), lazy, random
  --seed N              seed of the random policy
  --max-steps N, --max-events N, --max-seconds S
                        bounds after which the run ends as `limit`, with its results

what comes out
  -o, --out FILE        table of all variables: .csv (.arrow, .parquet if built in)
  --sample DT           rows of the table at multiples of DT (and at every jump)
  --plot FILE           picture: .svg or .png (repeatable)
  --json                one JSON object on standard output; no picture unless asked for by --plot
  -q, --quiet           no summary

exit code: 0 finished or stopped by the model, 1 error in the input or output,
           2 the run could not go on (what it has until then is still written)

examples
  saltus run ball.salt
  saltus run ball.salt --until 3 --set e=0.9 --set x=2 --plot ball.png
  saltus run house.salt --model House --set rooms[2].lo=17 --out house.csv --sample 60
  saltus run ball.salt --json | jq '.events | length'
";

/// `saltus check --help`.
pub const CHECK: &str = "\
usage: saltus check FILE [OPTIONS]

Tells what the model in FILE is: parameters, states, memories, signals, automata and modes, every
guard with its kind, the domains that follow from its functions, cycles of modes that may happen in
zero time, and every error and warning.

  --model NAME          one of several models in FILE
  --set PATH=VALUE      a parameter or starting value (repeatable)
  --all                 long lists in full
  --json                one JSON object on standard output

exit code: 0 no errors, 1 errors

example: saltus check thermostat.salt
";

/// `saltus graph --help`.
pub const GRAPH: &str = "\
usage: saltus graph FILE [OPTIONS]

Draws the components, automata, modes and transitions of the model in FILE.

  -o, --out FILE        picture: .svg or .png (repeatable); NAME.graph.svg in the current directory
                        if absent
  --outline             without equations in the boxes
  --model NAME          one of several models in FILE
  --set PATH=VALUE      a parameter or starting value (repeatable)
  -q, --quiet           do not say what was written

example: saltus graph thermostat.salt --out thermostat.png
";

/// `saltus reproduce --help`.
pub const REPRODUCE: &str = "\
usage: saltus reproduce [NAME] [OPTIONS]

Recomputes the experiments of Esposito and Kumar, \"A State Event Detection Algorithm for Numerically
Simulating Hybrid Systems with Model Singularities\" (2007), beside the values printed there. Without
NAME, all of them with fewer starts.

  table1                collisions of a vehicle in a corridor that just scrapes a wall: which methods
                        find them, against the closed form
  example2              an arm whose tip leaves its workspace, where the equations end to exist: who
                        stops at the edge, who evaluates beyond it
  table2                twenty bumper cars: cost of looking before each step, overlaps, agreement

  --runs N              random starts (100, 100 and 10; a fifth of that without NAME)
  --seed N              seed of the starts
  --starts FILE.json    these starts instead (table1: `cases`, `clear_cases`; table2: `initial`)
  -o, --out FOLDER      write figures there
  --png                 as PNG instead of SVG
  -q, --quiet           no progress bar

example: saltus reproduce table1 --runs 1000 --out figures
";
