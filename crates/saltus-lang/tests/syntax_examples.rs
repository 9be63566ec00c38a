//! The models of the language design, and every form of statement, read without a complaint and
//! mean what they look like.

use saltus_lang::ast::*;
use saltus_lang::parse;

const BALL_AND_FRIENDS: &str = r#"
model BouncingBall {
    param g = 9.81, e = 0.8
    state x = 10, v = 0
    flow {
        x' = v
        v' = -g
    }
    when x <= 0 and v < 0 { v := -e * v }
    run { until 12; plot x, v }
}

model Freewheel {
    param V = 1, R = 1, L = 1
    state p = 0
    signal v, iS, iD                    // algebraic unknowns
    flow {
        p' = v
        iS + iD = p / L
    }
    automaton Switch {
        initial mode Closed { flow { v = V - R * iS }; at 1 -> Open }
        mode Open           { flow { iS = 0 } }
    }
    automaton Diode {
        initial mode Off { flow { iD = 0 }; when -v > 0 -> On }
        mode On          { flow { v = 0 };  when iD < 0 -> Off }
    }
}

component Thermostat(lo = 19, hi = 21) {
    input  ambient
    output temp = x
    state  x = 20
    automaton {
        initial mode Heating {
            flow { x' = -0.1 * (x - ambient) + 2 }
            when x >= hi -> Idle
        }
        mode Idle {
            flow { x' = -0.1 * (x - ambient) }
            invariant x >= lo
            may when x <= lo + 0.5 -> Heating
        }
    }
}

model House {
    rooms: Thermostat[3](lo = 18)                  // instances; one form for all
    rooms[1].ambient = 5 + 3 * sin(2 * pi * time / 86400)
    for k in 2..3 { rooms[k].ambient = rooms[k - 1].temp }
    every 60 { log := mean(rooms[1..3].temp) }      // discrete time, held between ticks
    memory log = 0
    stop when rooms[1].temp < 10 "frozen"
}
"#;

const ALL_FORMS: &str = r#"
use "lib.salt"
fn hit(a, b) = a + b
param c0 = 299792458 [m/s], table = [[1, 2], [3, 4]]
component Ball(lo = 19, hi: [K] = 21, n) {
    state x[3] = [1, 2, 3], v: [m/s] = 0, w: Real [m] = 1, m[2, 3]
    memory n: Integer = 0, b: Boolean = true
    signal v, iS
    signal y = 2 * x
    input ambient
    input u = csv("data.csv", "u", "linear")
    event press at 20, 45
    ball: Ball
    flow { x' = v; v' = -g; hold y, z[1] }
    domain x > 0
    automaton Climber {
        initial mode A {
            at 1 -> B
            after 2 -> A
            on press -> A { x := 1 }
            on press when armed { x := interval(1, 2) }
            every 1 when x > 0 { x := 0; y := 1 }
            preempt when x > 0 -> history B
            may preempt when rises(x) -> history
            else -> B
        }
        mode B {
            automaton { initial mode Inner { inner: Ball(lo = 1) } }
        }
        mode history {}
    }
    when all(x[i] > 0 for i in 1..n) {
        for i in 1..n {
            x[i] := 0
        }
    }
    signal until = if x > 0
        then 1
        else if x == 0 then 2 else 3, plot = [k^2 for k in 1..3]
    over = sum(a, b, c,
        key = 2) +
        3
    run { until 12; plot x, v; plot y over x; rtol 1e-8; policy random; seed -3; title "a b" }
}
"#;

fn read(text: &str) -> File {
    let (file, diagnostics) = parse(0, text);
    assert!(diagnostics.is_empty(), "{diagnostics:#?}");
    file
}

fn classes(file: &File) -> Vec<&Class> {
    file.items.iter().filter_map(|item| if let Item::Class(c) = item { Some(c) } else { None }).collect()
}

/// An expression as a fully parenthesised text.
fn shape(expr: &Expr) -> String {
    let list = |items: &[Expr]| items.iter().map(shape).collect::<Vec<_>>().join(",");
    match &expr.kind {
        ExprKind::Number { value, unit, .. } => {
            format!("{value}{}", unit.as_ref().map(|u| format!("<{}>", u.text)).unwrap_or_default())
        }
        ExprKind::Boolean(b) => b.to_string(),
        ExprKind::Text(t) => format!("{t:?}"),
        ExprKind::Name(n) => n.clone(),
        ExprKind::Member(a, n) => format!("{}.{}", shape(a), n.text),
        ExprKind::Index(a, i) => format!("{}[{}]", shape(a), list(i)),
        ExprKind::Prime(a) => format!("{}'", shape(a)),
        ExprKind::Call { function, arguments, named } => {
            let named: String = named.iter().map(|(k, v)| format!(";{}={}", k.text, shape(v))).collect();
            format!("{}({}{named})", function.text, list(arguments))
        }
        ExprKind::Comprehension { function, value, variable, from, to } => {
            format!("{}({}|{}:{}..{})", function.text, shape(value), variable.text, shape(from), shape(to))
        }
        ExprKind::Unary(op, a) => format!("({op:?} {})", shape(a)),
        ExprKind::Binary(op, a, b) => format!("({} {op:?} {})", shape(a), shape(b)),
        ExprKind::Compare(operands, ops) => format!("{ops:?}({})", list(operands)),
        ExprKind::If(c, a, b) => format!("if({},{},{})", shape(c), shape(a), shape(b)),
        ExprKind::Array(items) => format!("[{}]", list(items)),
        ExprKind::Range(a, b) => format!("{}..{}", shape(a), shape(b)),
    }
}

/// The shape of an expression.
fn value(text: &str) -> String {
    let file = read(&format!("fn f() = {text}"));
    match &file.items[..] {
        [Item::Function(f)] => shape(&f.body),
        other => panic!("{other:?}"),
    }
}

#[test]
fn design_models_are_read() {
    let file = read(BALL_AND_FRIENDS);
    let classes = classes(&file);
    assert_eq!(
        classes.iter().map(|c| (c.kind, c.name.text.as_str(), c.body.len())).collect::<Vec<_>>(),
        [
            (ClassKind::Model, "BouncingBall", 5),
            (ClassKind::Model, "Freewheel", 6),
            (ClassKind::Component, "Thermostat", 4),
            (ClassKind::Model, "House", 6),
        ]
    );
    let StatementKind::Rule(bounce) = &classes[0].body[3].kind else { panic!("{:?}", classes[0].body[3]) };
    assert_eq!(
        &BALL_AND_FRIENDS[bounce.head.start as usize..bounce.head.end as usize],
        "when x <= 0 and v < 0"
    );
    assert_eq!(bounce.actions.len(), 1);
    assert!(bounce.target.is_none() && !bounce.may);
}

#[test]
fn every_form_is_read() {
    let file = read(ALL_FORMS);
    assert_eq!(file.items.len(), 4);
    let ball = classes(&file)[0];
    assert_eq!(ball.parameters.len(), 3);
    assert_eq!(ball.parameters[1].unit.as_ref().map(|u| u.text.as_str()), Some("K"));
    let StatementKind::Declare(DeclarationKind::State, states) = &ball.body[0].kind else { panic!() };
    assert_eq!(states.iter().map(|d| d.sizes.len()).collect::<Vec<_>>(), [1, 0, 0, 2]);
    assert_eq!(states[2].sort.as_ref().map(|s| s.text.as_str()), Some("Real"));
    assert_eq!(states[2].unit.as_ref().map(|s| s.text.as_str()), Some("m"));
    let StatementKind::Automaton { name: Some(name), modes } = &ball.body[10].kind else { panic!() };
    assert_eq!(name.text, "Climber");
    let targets: Vec<_> = modes[0]
        .body
        .iter()
        .filter_map(|s| if let StatementKind::Rule(r) = &s.kind { Some(r) } else { None })
        .map(|r| r.target.as_ref().map(|t| (t.history, t.mode.text.as_str(), r.may, r.preempt)))
        .collect();
    assert_eq!(
        targets,
        [
            Some((false, "B", false, false)),
            Some((false, "A", false, false)),
            Some((false, "A", false, false)),
            None,
            None,
            Some((true, "B", false, true)),
            Some((false, "history", true, true)),
            Some((false, "B", false, false)),
        ]
    );
    let StatementKind::Run(settings) = &ball.body.last().unwrap().kind else { panic!() };
    let options: Vec<_> = settings
        .iter()
        .filter_map(|s| match s {
            RunSetting::Option { name, value, .. } => Some((name.text.as_str(), value.as_str())),
            _ => None,
        })
        .collect();
    assert_eq!(options, [("rtol", "1e-8"), ("policy", "random"), ("seed", "-3"), ("title", "a b")]);
}

#[test]
fn operators_bind_as_documented() {
    assert_eq!(value("-x^2"), "(Neg (x Pow 2))");
    assert_eq!(value("2^-3"), "(2 Pow (Neg 3))");
    assert_eq!(value("2^3^4"), "(2 Pow (3 Pow 4))");
    assert_eq!(value("2^-3^4 * x"), "((2 Pow (Neg (3 Pow 4))) Mul x)");
    assert_eq!(value("-a * b - -c"), "(((Neg a) Mul b) Sub (Neg c))");
    assert_eq!(value("a - b - c"), "((a Sub b) Sub c)");
    assert_eq!(value("a .* b ./ c .^ d"), "((a ElementMul b) ElementDiv (c ElementPow d))");
    assert_eq!(value("not a < b and c or d"), "(((Not [Lt](a,b)) And c) Or d)");
    assert_eq!(value("0 < x <= 1 == y"), "[Lt, Le, Eq](0,x,1,y)");
    assert_eq!(value("if a then b else c + 1"), "if(a,b,(c Add 1))");
    assert_eq!(value("x'' + r[1].x'"), "(x'' Add r[1].x')");
}

#[test]
fn numbers_ranges_and_units_do_not_collide() {
    assert_eq!(value("x[1..n]"), "x[1..n]");
    assert_eq!(value("x[1.5 .. 2]"), "x[1.5..2]");
    assert_eq!(value("x[k - 1..k + 1, 2]"), "x[(k Sub 1)..(k Add 1),2]");
    assert_eq!(value("2.*x + 1./y"), "((2 ElementMul x) Add (1 ElementDiv y))");
    assert_eq!(value("9.81 [m/s^2] * 3 [%]"), "(9.81<m/s^2> Mul 3<%>)");
    assert_eq!(value("[1 [m], 2 [ kg * m ]]"), "[1<m>,2<kg * m>]");
    assert_eq!(value("[[1, 2], [3, 4],]"), "[[1,2],[3,4]]");
    assert_eq!(value("1e3 + 2.5E-2"), "(1000 Add 0.025)");
    assert_eq!(value("f(a, 1, k = 2)"), "f(a,1;k=2)");
    assert_eq!(value("sum(x[i] for i in 1..n)"), "sum(x[i]|i:1..n)");
    assert_eq!(value("[i for i in 1..3]"), "array(i|i:1..3)");
    assert_eq!(value(r#""a \"b\" \\ \n""#), r#""a \"b\" \\ \n""#);
}

#[test]
fn names_may_use_letters_of_the_field() {
    assert_eq!(value("φ₁ + ω_0 * Δx"), "(φ₁ Add (ω_0 Mul Δx))");
}

#[test]
fn comments_nest_and_end_lines() {
    let file = read("model A { state x = 1 /* a /* b */\n c */ state y = 2 // end\n}");
    assert_eq!(classes(&file)[0].body.len(), 2);
}

#[test]
fn lines_end_statements_unless_something_is_open() {
    let file = read("model A {\n a = 1 +\n 2\n b =\n f(1,\n 2\n )\n -c = d\n [e, f] = g\n}");
    assert_eq!(classes(&file)[0].body.len(), 4);
}

#[test]
fn spans_cover_what_they_name() {
    let text = "model A { x' = (a + b) * 2 }";
    let file = read(text);
    let StatementKind::Equation { lhs, rhs } = &classes(&file)[0].body[0].kind else { panic!() };
    let at = |e: &Expr| &text[e.span.start as usize..e.span.end as usize];
    assert_eq!((at(lhs), at(rhs)), ("x'", "(a + b) * 2"));
    let ExprKind::Binary(_, sum, _) = &rhs.kind else { panic!() };
    assert_eq!(at(sum), "(a + b)");
}
