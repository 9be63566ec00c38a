//! What the parser says about faulty text. Each test gives a text and every report it must draw:
//! place, code, sentence, label, further places, advice. Faults stand side by side on purpose: one
//! must not hide or disturb another.

use saltus_lang::render::{Look, render};
use saltus_lang::{MAX_DEPTH, codes, parse};
use saltus_model::SourceMap;

/// All reports of a text, in the form the tests spell out.
fn reports(text: &str) -> String {
    let mut sources = SourceMap::default();
    let file = sources.add("a.salt", text);
    let mut shown = String::new();
    for d in parse(file, text).1 {
        let (line, column) = sources.line_column(d.span);
        shown += &format!("{line}:{column} {} {} [{}]\n", d.code, d.message, d.label);
        for (span, what) in d.related {
            let (line, column) = sources.line_column(span);
            shown += &format!("  {line}:{column} {what}\n");
        }
        shown += &d.hint.map(|hint| format!("  help: {hint}\n")).unwrap_or_default();
    }
    shown
}

fn check(text: &str, expected: &str) {
    let inner = |t: &str| t.trim_matches('\n').to_string();
    assert_eq!(inner(&reports(&inner(text))), inner(expected));
}

#[test]
fn habits_from_elsewhere_are_answered() {
    check(
        r#"
model A {
    state x = 0,5
    param m: kg = 2
    x' = if x > 1 then 2 elseif x > 0 then 1 else √2
    when x > 1 x := 0
    when { x := 0 }
    Room kitchen
    y ＝ 1.2.3
}
"#,
        r#"
2:17 E001 expected a name, found the number `5` [expected a name]
  help: a fraction is written with a point: `0.5`
3:14 E001 expected `Real`, `Integer`, `Boolean` or a unit such as `[m/s]`, found `kg` [expected `Real`, `Integer`, `Boolean` or a unit such as `[m/s]`]
  help: a unit stands in brackets: `[kg]`
4:26 E001 expected `else`, found `elseif` [expected `else`]
  help: another condition is written `else if`
4:51 E004 `√` has no meaning here [not an operator]
  help: a square root is written `sqrt(x)`
5:16 E001 expected `{`, found `x` [expected `{`]
  help: assignments stand in braces: `when x < 0 { v := 0 }`
6:10 E001 expected an expression before `{`, found `{` [expected an expression before `{`]
7:10 E001 expected `=`, found `kitchen` [expected `=`]
  help: an instance is written `kitchen: Room`
8:7 E004 `＝` has no meaning here [not an operator]
  help: write the plain `=`
8:12 E003 a number has one point [another point]
"#,
    );
}

#[test]
fn what_follows_from_one_slip_is_not_reported_again() {
    check(
        "model A:\n    state x = 0\n    x' = 1",
        "1:8 E001 expected `{`, found `:` [expected `{`]\n  help: what belongs to a class stands in braces: `{ ... }`",
    );
    check(
        "state x = 0\nx' = 1\ny = 2\nmodel A { }\nz = 3",
        r#"
1:1 E001 expected `model`, `component`, `fn`, `param` or `use`, found `state` [not at the top level of a file]
  help: everything else stands inside a model: `model Name { ... }`
5:1 E001 expected `model`, `component`, `fn`, `param` or `use`, found `z` [not at the top level of a file]
  help: equations and declarations stand inside a model
"#,
    );
    check(
        "model A {\n    /* state x = 0\n}",
        r#"
2:5 E002 this comment is not closed [opened here]
  help: close it with `*/`; comments may be nested, so each `/*` needs its own `*/`
"#,
    );
}

#[test]
fn bars_are_not_absolute_values() {
    check(
        r#"
model A {
    output d = |x|
    output e = 2 * |x - |y|| + |z[1]|
    when |x| < 1 or a | b { x := 1 }
}
"#,
        r#"
2:16 E004 bars do not stand for the absolute value [not an expression]
  help: write `abs(...)`
3:20 E004 bars do not stand for the absolute value [not an expression]
  help: write `abs(...)`
3:25 E004 bars do not stand for the absolute value [not an expression]
  help: write `abs(...)`
3:32 E004 bars do not stand for the absolute value [not an expression]
  help: write `abs(...)`
4:10 E004 bars do not stand for the absolute value [not an expression]
  help: write `abs(...)`
4:23 E004 `|` has no meaning here [not an operator]
  help: conditions are joined with `or`
"#,
    );
}

#[test]
fn equality_signs_are_told_apart() {
    check(
        r#"
model A {
    param a := 1
    flow { x' := v; y == 2 }
    when x <= 0 { v = -e * v; w == 2 }
    when x = 0 -> B
    z : = 2
    stop when x = 3
    invariant x = 3
}
"#,
        r#"
2:13 E001 a declared value follows `=` [expected `=`]
  help: `:=` stands only in jumps, `==` only in conditions
3:15 E001 an equation is written with `=` [expected `=`]
  help: `:=` stands only in jumps: `when x < 0 { v := 0 }`
3:21 E001 an equation is written with `=` [this is a condition]
  help: `==` compares two values in a condition
4:21 E001 an assignment in a jump is written with `:=` [expected `:=`]
  help: `=` states an equation that always holds, `:=` gives a new value once
4:31 E001 an assignment in a jump is written with `:=` [expected `:=`]
  help: `=` states an equation that always holds, `:=` gives a new value once
5:12 E001 expected `->` and a mode, or `{` and assignments, found `=` [expected `->` and a mode, or `{` and assignments]
  help: equality is written `==`
6:9 E001 expected the name of a component, found `=` [expected the name of a component]
  help: `:=` is written without a blank
7:17 E001 expected the end of the statement, found `=` [expected the end of the statement]
  help: equality is written `==`
8:17 E001 expected the end of the statement, found `=` [expected the end of the statement]
  help: equality is written `==`
"#,
    );
}

#[test]
fn operators_of_other_languages_are_understood() {
    check(
        r#"
model A {
    when a && b || !c -> M
    x = a ** b
    when a <> b -> M
    when a =< b -> M
    y = 5 % 3
    z = a ? b : c
    when a => b -> M
    when a { x += 1 }
    when x ≤ 3 → M { x ≔ 2 × 3 }
}
"#,
        r#"
2:12 E004 `&&` has no meaning here [not an operator]
  help: conditions are joined with `and`
2:17 E004 `||` has no meaning here [not an operator]
  help: conditions are joined with `or`
2:20 E004 `!` has no meaning here [not an operator]
  help: a condition is negated with `not`
3:11 E004 `**` has no meaning here [not an operator]
  help: a power is written with `^`
4:12 E004 `<>` has no meaning here [not an operator]
  help: inequality is written `!=`
5:12 E004 `=<` has no meaning here [not an operator]
  help: at most is written `<=`
6:11 E004 `%` has no meaning here [not an operator]
  help: the remainder is `mod(a, b)`; comments begin with `//`
7:11 E004 `?` has no meaning here [not an operator]
  help: a choice is written `if c then a else b`
8:12 E004 `=>` has no meaning here [not an operator]
  help: at least is written `>=`, a transition `-> Mode`
9:16 E004 `+=` has no meaning here [not an operator]
  help: write the new value in full: `x := x + 1`
10:12 E004 `≤` has no meaning here [not an operator]
  help: at most is written `<=`
10:16 E004 `→` has no meaning here [not an operator]
  help: a transition is written `-> Mode`
10:24 E004 `≔` has no meaning here [not an operator]
  help: an assignment is written `x := ...`
10:28 E004 `×` has no meaning here [not an operator]
  help: a product is written with `*`
"#,
    );
}

#[test]
fn missing_arrows_are_added() {
    check(
        r#"
model A {
    when x > 0 Idle
    when x > 0 Idle { x = 1 }
    when x > 0
    -> Idle
    when x { y := 1 } -> B
}
"#,
        r#"
2:16 E001 expected `->` before the mode `Idle` [`->` missing]
  help: write `-> Idle`
3:16 E001 expected `->` before the mode `Idle` [`->` missing]
  help: write `-> Idle`
3:25 E001 an assignment in a jump is written with `:=` [expected `:=`]
  help: `=` states an equation that always holds, `:=` gives a new value once
4:15 E001 expected `->` and a mode, or `{` and assignments, found the end of the line [expected `->` and a mode, or `{` and assignments]
  help: move `->` to the end of the line before
6:23 E001 expected the end of the statement, found `->` [expected the end of the statement]
  help: the mode comes before the assignments: `when g -> Mode { x := 1 }`
"#,
    );
}

#[test]
fn braces_stay_on_their_line() {
    check(
        r#"
model A
{
    when x > 0
    {
        x := 1
    }
}
"#,
        r#"
2:1 E001 `{` must stand on the line that it belongs to [on a line of its own]
  1:8 the statement ends with this line
  help: move `{` to the end of the line before
4:5 E001 `{` must stand on the line that it belongs to [on a line of its own]
  3:15 the statement ends with this line
  help: move `{` to the end of the line before
"#,
    );
}

#[test]
fn derivatives_are_not_calls() {
    check(
        r#"
model A { flow { der(x) = v; (x + y)' = 2 } }
"#,
        r#"
1:18 E001 a derivative is not a call [written with `'`]
  help: write `x'` for the derivative of `x`
1:37 E001 only a variable has a derivative `'` [behind an expression]
  1:30 this is not a variable
  help: name it as a state, or write out its derivative; texts stand in double quotes
"#,
    );
}

#[test]
fn empty_statements_are_refused() {
    check(
        r#"
model A {
    state x = 1;; state y = 2;
    ;
}
"#,
        r#"
2:17 E001 there is no statement before this `;` [empty statement]
  help: one `;` between two statements is enough, and a line end needs none
3:5 E001 there is no statement before this `;` [empty statement]
  help: one `;` between two statements is enough, and a line end needs none
"#,
    );
}

#[test]
fn the_indentation_shows_which_brace_is_missing() {
    check(
        r#"
model A {
    flow {
        x' = 1
    when x > 0 { x := 0 }
}

model B {
    state = 1
}
"#,
        r#"
2:10 E002 this `{` is not closed [opened here]
  5:1 this `}` stands further left than the line it closes
  7:1 the next part begins here
  help: add the missing `}`
8:5 E005 `state` cannot be a name [reserved word]
  help: the word `state` declares states; choose another name, such as `state1`
"#,
    );
}

#[test]
fn a_mode_beside_an_open_mode_closes_it() {
    check(
        r#"
model A {
    automaton {
        initial mode B {
            flow { x' = 1 }
        mode C {
            x =
        }
    }
}
"#,
        r#"
3:24 E002 this `{` is not closed [opened here]
  5:9 the next part begins here
  help: add the missing `}`
6:16 E001 expected an expression, found the end of the line [expected an expression]
"#,
    );
}

#[test]
fn a_file_that_ends_too_early() {
    check(
        r#"
model A {
    state x = 1
"#,
        r#"
1:9 E002 this `{` is not closed [opened here]
  2:16 the file ends here
  help: add the missing `}`
"#,
    );
}

#[test]
fn a_brace_too_many() {
    check(
        r#"
model A { }
}
model B { x = }
"#,
        r#"
2:1 E001 this `}` closes nothing [no `{` is open]
  help: remove it, or look for a `}` too many above
3:15 E001 expected an expression, found `}` [expected an expression]
"#,
    );
}

#[test]
fn unclosed_brackets_name_their_opening() {
    check(
        r#"
model A {
    param a = (1 + 2
    state x = f(1, [2, 3)
    c: Ball[2
    when (x > 0 -> B { y = 1 }
    when x[1 > 0 { y = 1 }
}
"#,
        r#"
2:15 E002 this `(` is not closed [opened here]
  3:5 expected `)` before this
3:20 E002 this `[` is not closed [opened here]
  3:25 expected `,` or `]` before this
4:12 E002 this `[` is not closed [opened here]
  5:5 expected `,` or `]` before this
5:10 E002 this `(` is not closed [opened here]
  5:17 expected `)` before this
5:26 E001 an assignment in a jump is written with `:=` [expected `:=`]
  help: `=` states an equation that always holds, `:=` gives a new value once
6:11 E002 this `[` is not closed [opened here]
  6:18 expected `,` or `]` before this
6:22 E001 an assignment in a jump is written with `:=` [expected `:=`]
  help: `=` states an equation that always holds, `:=` gives a new value once
"#,
    );
}

#[test]
fn texts_comments_and_units_must_be_closed() {
    check(
        r#"
model A {
    a = "abc
    i = 3 [m
    j = 3 []
    h = "a\qb"
    s = 'text'
}
/* outer /* inner */
"#,
        r#"
2:9 E002 this text is not closed [begins here]
  help: close it with `"` on the same line
3:11 E002 this unit is not closed [begins here]
  help: close it with `]` on the same line
4:11 E001 expected a unit between the brackets [empty]
  help: write for example `[m/s]`, or leave the brackets out
5:11 E004 `\q` means nothing in a text [unknown escape]
  help: write `\\` for a backslash; also known are `\"`, `\n`, `\r` and `\t`; paths may be written with `/`
6:9 E001 expected an expression, found `'` [expected an expression]
  help: texts stand in double quotes: `"..."`
8:1 E002 this comment is not closed [opened here]
  help: close it with `*/`; comments may be nested, so each `/*` needs its own `*/`
"#,
    );
}

#[test]
fn malformed_numbers() {
    check(
        r#"
model A {
    b = 1.
    c = .5
    d = 2pi
    e = 1e
    f = 1e999
    g = 1e-400
    p = 1_000
    i = x.3
}
"#,
        r#"
2:9 E003 no digits after the point of `1.` [digits missing]
  help: write `1.0`, or `1` without the point
3:9 E003 a number needs a digit before its point [digit missing]
  help: write `0.5`
4:9 E003 the number `2` runs into `pi` [neither number nor name]
  help: a product is written with `*`: `2 * pi`; a unit in brackets: `2 [pi]`
5:9 E003 the exponent of `1e` has no digits [digits missing]
  help: write for example `1e-3`
6:9 E003 this number is too large: the largest is about 1.8e308 [out of range]
7:9 E003 this number is too small to be told from 0: the smallest is about 5e-324 [out of range]
8:9 E003 a number is written without `_` [not a number]
9:10 E003 expected a name after `.` [not a name]
  help: elements of an array are read with brackets: `x[3]`
"#,
    );
}

#[test]
fn characters_without_meaning() {
    check(
        r#"
model A {
    # comment
    a = $@b
    k = x²
    t = “text”
}
"#,
        r#"
2:5 E004 `#` has no meaning here [not a comment]
  help: comments begin with `//`
3:9 E004 the character `$` has no meaning here [unknown]
4:10 E004 the character `²` has no meaning here [unknown]
  help: a power is written with `^`: `x^2`
5:9 E004 the character `“` has no meaning here [unknown]
  help: texts stand in straight quotes: `"..."`
5:14 E004 the character `”` has no meaning here [unknown]
  help: texts stand in straight quotes: `"..."`
"#,
    );
}

#[test]
fn reserved_words_are_no_names() {
    check(
        r#"
model A {
    state state = 1
    flow = 3
    x = 2 * in
    signal agent
    b: Ball(on = 3)
    agent foo { x = 1 }
    zeno -> M
    when x > 0 { mode := 1 }
}
import foo
"#,
        r#"
2:11 E005 `state` cannot be a name [reserved word]
  help: the word `state` declares states; choose another name, such as `state1`
3:5 E005 `flow` cannot be a name [reserved word]
  help: the word `flow` begins a block of equations; choose another name, such as `flow1`
4:13 E005 `in` cannot be a name [reserved word]
  help: the word `in` is part of `for`; choose another name, such as `in1`
5:12 E005 `agent` cannot be a name [reserved word]
  help: the word `agent` is kept for a later part of the language; choose another name, such as `agent1`
6:13 E005 `on` cannot be a name [reserved word]
  help: the word `on` names an event; choose another name, such as `on1`
7:5 E005 `agent` is kept for a later part of the language [not a statement yet]
8:5 E005 `zeno` is kept for a later part of the language [not a statement yet]
9:18 E005 `mode` cannot be a name [reserved word]
  help: the word `mode` begins a mode; choose another name, such as `mode1`
11:1 E005 `import` is kept for a later part of the language [not a statement yet]
  help: other files are brought in with `use "file.salt"`
"#,
    );
}

#[test]
fn words_of_other_languages_are_translated() {
    check(
        r#"
parameter g = 3
x = 3
model A {
    parameter g = 3
    var x = 2
    until 10
    stae y
    y z = 3
    flow x' = 3
    if x > 0 { y := 1 }
}
fn f(a, b) { a + b }
fn g = 3
use lib
"#,
        r#"
1:1 E001 expected `model`, `component`, `fn`, `param` or `use`, found `parameter` [not at the top level of a file]
  help: did you mean `param`?
2:1 E001 expected `model`, `component`, `fn`, `param` or `use`, found `x` [not at the top level of a file]
  help: equations and declarations stand inside a model
4:15 E001 expected `=`, found `g` [expected `=`]
  help: did you mean `param`?
5:9 E001 expected `=`, found `x` [expected `=`]
  help: did you mean `state`?
6:11 E001 expected `=`, found the number `10` [expected `=`]
  help: `until` stands in the `run { ... }` block
7:10 E001 expected `=`, found `y` [expected `=`]
  help: did you mean `state`?
8:7 E001 expected `=`, found `z` [expected `=`]
  help: a declaration begins with `param`, `state`, `signal`, ...; a product is written with `*`
9:10 E001 expected `{`, found `x` [expected `{`]
  help: equations stand in braces: `flow { x' = v }`
10:14 E001 expected `then`, found `{` [expected `then`]
  help: a value by condition is `if c then a else b`; a jump by condition is `when c { ... }`
12:12 E001 expected `=`, found `{` [expected `=`]
  help: a function is one expression: `fn f(a, b) = a + b`
13:6 E001 expected `(` and the arguments, found `=` [expected `(` and the arguments]
14:5 E001 expected the name of a file, found `lib` [expected the name of a file]
  help: write `use "lib.salt"`
"#,
    );
}

#[test]
fn lines_that_break_before_an_operator() {
    check(
        r#"
model A {
    x = a
      + b
    y = a
      - b
    z
}
"#,
        r#"
3:7 E001 expected a statement, found `+` [expected a statement]
  help: a line end ends a statement; to go on, put the operator or comma at the end of the line before
5:10 E001 expected `=`, found the end of the line [expected `=`]
  help: a line end ends a statement; to go on, put the operator at the end of the line before
6:6 E001 expected `=`, found the end of the line [expected `=`]
"#,
    );
}

#[test]
fn arrays_and_ranges_of_other_languages() {
    check(
        r#"
model A {
    z = [1 2 3]
    w = [1, 2; 3, 4]
    v = x[1:3]
    p = {1, 2}
    m = 1..3
    l = sum(x for i in 1..2 for j in 1..3)
    for k = 1..3 { x = k; y = }
    for k in 1:3 { x = k }
}
"#,
        r#"
2:12 E001 expected `,` or `]`, found the number `2` [expected `,` or `]`]
  help: elements are separated by `,`, and a product is written with `*`
3:14 E001 expected `,` or `]`, found `;` [expected `,` or `]`]
  help: a matrix is written by rows: `[[1, 2], [3, 4]]`
4:12 E001 expected `,` or `]`, found `:` [expected `,` or `]`]
  help: a range is written `1..n`
5:9 E001 expected an expression, found `{` [expected an expression]
  help: `{` never begins an expression; arrays are written `[1, 2]`
6:10 E001 expected the end of the statement, found `..` [expected the end of the statement]
  help: a range stands in an index or behind `in`: `x[1..3]`, `for i in 1..n`
7:29 E001 expected `)`, found the keyword `for` [expected `)`]
  help: one `for` each: write `sum(sum(... for j in 1..m) for i in 1..n)`
8:11 E001 expected `in`, found `=` [expected `in`]
  help: a family is written `for i in 1..n { ... }`
8:31 E001 expected an expression, found `}` [expected an expression]
9:15 E001 expected `..`, found `:` [expected `..`]
  help: a range is written `1..n`
"#,
    );
}

#[test]
fn operators_and_operands_out_of_place() {
    check(
        r#"
model A {
    u = 2(x + 1)
    r = 1 + not b
    q = 1 + if a then b else c
    o = +3
    n = f(a = 1, 2)
    k = a = b
    e = if a then b
    d = [m]
    c = )
}
"#,
        r#"
2:10 E001 expected an operator, found `(` [expected an operator]
  help: a product is written with `*`; only functions, which have plain names, take arguments
3:13 E001 `not` needs parentheses here [binds less tightly than the operator before it]
  help: write `(not ...)`
4:13 E001 `if` needs parentheses here [binds less tightly than the operator before it]
  help: write `(if ...)`
5:9 E001 expected an expression, found `+` [expected an expression]
  help: leave out a `+` that adds nothing
6:18 E001 expected a named argument, found the number `2` [expected a named argument]
  help: arguments without a name come before those with one
7:11 E001 expected the end of the statement, found `=` [expected the end of the statement]
  help: an equation has one `=`; a line that ends in an operator or comma goes on in the next
8:20 E001 expected `else`, found the end of the line [expected `else`]
  help: every `if` has an `else`: `if c then a else b`
10:9 E001 expected an expression, found `)` [expected an expression]
"#,
    );
}

#[test]
fn declarations_that_do_not_fit() {
    check(
        r#"
model A {
    x: Real = 3
    y: [m] = 2
    b: Ball(3)
    state s: Foo = 3
    state u, = 2
    state
    event e at
    hold
    stop x > 3
    stop when x > 3 frozen
    invariant
}
"#,
        r#"
2:8 E001 expected the name of a component, found `Real` [expected the name of a component]
  help: a variable is declared with its kind: `state x: ...`, `signal x: ...`
3:8 E001 expected the name of a component, found the unit `[m]` [expected the name of a component]
  help: a variable is declared with its kind: `state y: ...`, `signal y: ...`
4:13 E001 expected a named argument, found the number `3` [expected a named argument]
  help: the parameters of a component are given by name: `Thermostat(lo = 18)`
5:14 E001 expected `Real`, `Integer`, `Boolean` or a unit such as `[m/s]`, found `Foo` [expected `Real`, `Integer`, `Boolean` or a unit such as `[m/s]`]
6:14 E001 expected a name, found `=` [expected a name]
7:10 E001 expected a name, found the end of the line [expected a name]
8:15 E001 expected an expression, found the end of the line [expected an expression]
9:9 E001 expected an expression, found the end of the line [expected an expression]
10:10 E001 expected `when`, found `x` [expected `when`]
  help: write `stop when x < 10 "frozen"`
11:21 E001 expected a message or the end of the statement, found `frozen` [expected a message or the end of the statement]
  help: a message stands in double quotes: `stop when x < 10 "frozen"`
12:14 E001 expected an expression, found the end of the line [expected an expression]
"#,
    );
}

#[test]
fn rules_that_do_not_fit() {
    check(
        r#"
model A {
    when x > -> D
    at 3, 4 -> E
    when x > 0 when y > 0 -> A
    when x then y
    else when x -> B
    may may when x -> B
    may at 3
    preempt x
    -> E
}
"#,
        r#"
2:14 E001 expected an expression, found `->` [expected an expression]
3:9 E001 expected `->` and a mode, or `{` and assignments, found `,` [expected `->` and a mode, or `{` and assignments]
  help: write one rule for each
4:16 E001 expected `->` and a mode, or `{` and assignments, found the keyword `when` [expected `->` and a mode, or `{` and assignments]
  help: conditions are joined with `and` or `or`
5:12 E001 expected `->` and a mode, or `{` and assignments, found the keyword `then` [expected `->` and a mode, or `{` and assignments]
  help: a transition is written `when g -> Mode`, without `then`
6:10 E001 expected `->` and a mode, or `{` and assignments, found the keyword `when` [expected `->` and a mode, or `{` and assignments]
  help: `else` stands for every other case and takes no condition
7:9 E001 expected `when`, found the keyword `may` [expected `when`]
8:13 E001 expected `->` and a mode, or `{` and assignments, found the end of the line [expected `->` and a mode, or `{` and assignments]
9:13 E001 expected `when`, `at`, `after`, `every`, `on` or `else`, found `x` [expected `when`, `at`, `after`, `every`, `on` or `else`]
10:5 E001 expected a statement, found `->` [expected a statement]
  help: a transition begins with `when`, `at`, `after`, `every`, `on` or `else`
"#,
    );
}

#[test]
fn statements_in_the_wrong_place() {
    check(
        r#"
model A {
    mode B { x = }
    automaton {
        state x =
        mode initial B { }
        initial B { }
        mode { }
    }
    every 1 { flow { x = } }
    run { state x = 3; 3; x + 1 }
    component C { x = }
}
"#,
        r#"
2:5 E112 a mode stands inside an automaton [not here]
  help: write `automaton { initial mode A { ... } mode B { ... } }`
2:18 E001 expected an expression, found `}` [expected an expression]
4:9 E112 only modes stand directly inside an automaton [not here]
  help: put it into a mode, or before the automaton if it holds in all modes
4:18 E001 expected an expression, found the end of the line [expected an expression]
5:14 E001 expected the name of a mode, found the keyword `initial` [expected the name of a mode]
  help: the first mode is written `initial mode A`
6:17 E001 expected `mode`, found `B` [expected `mode`]
7:14 E001 expected the name of a mode, found `{` [expected the name of a mode]
9:15 E112 only assignments stand in a jump [not here]
  help: write `x := ...` here; other statements stand beside the rule
9:26 E001 expected an expression, found `}` [expected an expression]
10:11 E112 only settings stand in a `run` block [not here]
  help: settings are a name and a value: `until 12`, `plot x, v`, `rtol 1e-8`
10:24 E112 only settings stand in a `run` block [not here]
  help: settings are a name and a value: `until 12`, `plot x, v`, `rtol 1e-8`
10:29 E001 expected a number, a word or a text, found `+` [expected a number, a word or a text]
11:5 E112 this stands at the top level of a file, not inside a class [not here]
  help: move it out of the braces; a `}` may be missing before it
11:23 E001 expected an expression, found `}` [expected an expression]
"#,
    );
}

#[test]
fn settings_that_do_not_fit() {
    check(
        r#"
model A {
    run { until = 12; rtol = 1e-8; plot; seed; title "a" "b"; plot x over }
}
"#,
        r#"
2:17 E001 a setting is a name and a value, with nothing between them [leave this out]
  help: write `rtol 1e-8`
2:28 E001 a setting is a name and a value, with nothing between them [leave this out]
  help: write `rtol 1e-8`
2:40 E001 expected an expression, found `;` [expected an expression]
2:46 E001 expected a number, a word or a text, found `;` [expected a number, a word or a text]
2:58 E001 expected the end of the statement, found the text `"b"` [expected the end of the statement]
  help: a message stands only behind `stop when ...`
2:75 E001 expected an expression, found `}` [expected an expression]
"#,
    );
}

#[test]
fn class_heads_that_do_not_fit() {
    check(
        r#"
model extends B { }
model B(3) { x = }
component C(a = 1, b = ) { y = }
component D(a { z = }
model { }
;
"#,
        r#"
1:7 E005 `extends` cannot be a name [reserved word]
  help: the word `extends` is kept for a later part of the language; choose another name, such as `extends1`
2:9 E001 expected the name of a parameter, found the number `3` [expected the name of a parameter]
2:18 E001 expected an expression, found `}` [expected an expression]
3:24 E001 expected an expression, found `)` [expected an expression]
3:32 E001 expected an expression, found `}` [expected an expression]
4:12 E002 this `(` is not closed [opened here]
  4:15 expected `,` or `)` before this
4:21 E001 expected an expression, found `}` [expected an expression]
5:7 E001 expected the name of the class, found `{` [expected the name of the class]
"#,
    );
}

#[test]
fn depth_is_limited_and_reported_once() {
    let n = 100_000;
    let deep = [
        format!("fn f(x) = {}x{}", "(".repeat(n), ")".repeat(n)),
        format!("fn f(x) = {}x{}", "f(".repeat(n), ")".repeat(n)),
        format!("fn f(x) = {}x{}", "[".repeat(n), "]".repeat(n)),
        format!("fn f(x) = {}x", "-".repeat(n)),
        format!("fn f(x) = {}x", "not ".repeat(n)),
        format!("fn f(x) = x{}", "^x".repeat(n)),
        format!("fn f(x) = x{}", " + x".repeat(n)),
        format!("fn f(x) = x{}", "'".repeat(n)),
        format!("fn f(x) = x{}", ".x".repeat(n)),
        format!("fn f(x) = {}x", "if x then x else ".repeat(n)),
        format!("model A {{ {} }}", "for i in 1..2 { ".repeat(n) + &"}".repeat(n)),
        format!("model A {{ {} }}", "automaton { mode B { ".repeat(n) + &"} }".repeat(n)),
        format!("model A {{ when x {{ {} }} }}", "for i in 1..2 { ".repeat(n) + &"}".repeat(n)),
    ];
    let work = move || {
        for text in deep {
            let found: Vec<_> = parse(0, &text).1.iter().map(|d| d.code).collect();
            assert_eq!(found, [codes::TOO_DEEP], "{}", &text[..60]);
        }
    };
    std::thread::Builder::new().stack_size(1 << 20).spawn(work).unwrap().join().unwrap();
}

#[test]
fn usual_depths_are_fine() {
    let n = MAX_DEPTH as usize / 2;
    assert_eq!(reports(&format!("fn f(x) = {}x{}", "(".repeat(n), ")".repeat(n))), "");
}

#[test]
fn nested_faults_do_not_slow_the_parser_down() {
    // Each would take hours if any part of the parser looked at a token more than a few times.
    for piece in
        ["{", "(", "[", "/*", "\"", "model A {", "when (", "`", "x = (\n", "}", ";", "f(x = ", "a b\n"]
    {
        let (_, diagnostics) = parse(0, &piece.repeat(200_000));
        assert!(!diagnostics.is_empty(), "{piece}");
    }
}

#[test]
fn reports_are_rendered_with_their_text() {
    let text = "model A {\n    when x > 0\n    {\n        x := 0\n    }\n}\n";
    let mut sources = SourceMap::default();
    let file = sources.add("a.salt", text);
    let expected = "\
error[E001]: `{` must stand on the line that it belongs to
 --> a.salt:3:5
  |
2 |     when x > 0
  |               - the statement ends with this line
3 |     {
  |     ^ on a line of its own
  |
  = help: move `{` to the end of the line before

";
    assert_eq!(render(&parse(file, text).1, &sources, Look::Plain), expected);
}
