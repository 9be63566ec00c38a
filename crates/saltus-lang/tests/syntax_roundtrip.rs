//! Printing and reading are inverse: random trees come back unchanged, and tidying a text keeps
//! its meaning and its comments and is done after one pass.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use saltus_lang::ast::*;
use saltus_lang::printer::{format, print, without_places};
use saltus_lang::{MAX_HEIGHT, parse};
use saltus_model::Span;

fn word() -> impl Strategy<Value = String> {
    select(vec!["x", "v1", "φ", "until", "over", "history", "plot", "Ball", "e2", "_", "then_", "array"])
        .prop_map(str::to_string)
}

fn name() -> impl Strategy<Value = Name> {
    word().prop_map(|text| Name { text, span: Span::default() })
}

fn text() -> impl Strategy<Value = String> {
    vec(select(vec!['a', '"', '\\', '\n', '\t', '\r', 'é', ' ', '/', '*', '\'', '[', '{', '\u{0}']), 0..6)
        .prop_map(String::from_iter)
}

fn unit() -> impl Strategy<Value = Unit> {
    select(vec!["m/s", "%", "kg * m^2", "°C", "// \""])
        .prop_map(|text| Unit { text: text.into(), span: Span::default() })
}

fn bare(kind: ExprKind) -> Expr {
    Expr { kind, span: Span::default() }
}

fn number() -> impl Strategy<Value = ExprKind> {
    let value = prop_oneof![
        (0u64..u64::MAX).prop_map(|n| (n as f64, true)),
        any::<f64>().prop_filter("finite", |x| x.is_finite()).prop_map(|x| (x.abs(), false)),
    ];
    (value, option::weighted(0.2, unit())).prop_map(|((value, integer), unit)| ExprKind::Number {
        value,
        integer,
        unit,
    })
}

fn path(expr: BoxedStrategy<Expr>) -> BoxedStrategy<Expr> {
    let index = (expr.clone(), option::of(expr)).prop_map(|(from, to)| match to {
        Some(to) => bare(ExprKind::Range(Box::new(from), Box::new(to))),
        None => from,
    });
    word()
        .prop_map(|w| bare(ExprKind::Name(w)))
        .prop_recursive(3, 6, 2, move |inner| {
            prop_oneof![
                (inner.clone(), name()).prop_map(|(b, n)| bare(ExprKind::Member(Box::new(b), n))),
                (inner.clone(), vec(index.clone(), 1..3))
                    .prop_map(|(b, i)| bare(ExprKind::Index(Box::new(b), i))),
                inner.prop_map(|b| bare(ExprKind::Prime(Box::new(b)))),
            ]
        })
        .boxed()
}

const BINARY: &[BinaryOp] = &[
    BinaryOp::Or,
    BinaryOp::And,
    BinaryOp::Add,
    BinaryOp::Sub,
    BinaryOp::Mul,
    BinaryOp::ElementMul,
    BinaryOp::Div,
    BinaryOp::ElementDiv,
    BinaryOp::Pow,
    BinaryOp::ElementPow,
];
const COMPARISONS: &[Comparison] =
    &[Comparison::Lt, Comparison::Le, Comparison::Gt, Comparison::Ge, Comparison::Eq, Comparison::Ne];

fn expr() -> BoxedStrategy<Expr> {
    let leaf = prop_oneof![
        4 => number(),
        1 => any::<bool>().prop_map(ExprKind::Boolean),
        1 => text().prop_map(ExprKind::Text),
        4 => word().prop_map(ExprKind::Name),
    ]
    .prop_map(bare);
    leaf.prop_recursive(5, 40, 4, |inner| {
        let e = || inner.clone().prop_map(Box::new);
        prop_oneof![
            path(inner.clone()).prop_map(|p| p.kind),
            (e(), name()).prop_map(|(b, n)| ExprKind::Member(b, n)),
            (e(), vec(inner.clone(), 1..3)).prop_map(|(b, i)| ExprKind::Index(b, i)),
            (name(), vec(inner.clone(), 0..3), vec((name(), inner.clone()), 0..2))
                .prop_map(|(function, arguments, named)| ExprKind::Call { function, arguments, named }),
            (name(), e(), name(), e(), e()).prop_map(|(function, value, variable, from, to)| {
                ExprKind::Comprehension { function, value, variable, from, to }
            }),
            (select(vec![UnaryOp::Neg, UnaryOp::Not]), e()).prop_map(|(op, a)| ExprKind::Unary(op, a)),
            (select(BINARY), e(), e()).prop_map(|(op, a, b)| ExprKind::Binary(op, a, b)),
            (inner.clone(), vec((select(COMPARISONS), inner.clone()), 1..4)).prop_map(|(first, rest)| {
                let (operators, mut operands): (Vec<_>, Vec<_>) = rest.into_iter().unzip();
                operands.insert(0, first);
                ExprKind::Compare(operands, operators)
            }),
            (e(), e(), e()).prop_map(|(c, a, b)| ExprKind::If(c, a, b)),
            vec(inner.clone(), 0..4).prop_map(ExprKind::Array),
        ]
        .prop_map(bare)
    })
    .boxed()
}

fn declarators() -> impl Strategy<Value = Vec<Declarator>> {
    let sort = select(vec!["Real", "Integer", "Boolean"])
        .prop_map(|text| Name { text: text.into(), span: Span::default() });
    let declarator = (
        name(),
        vec(expr(), 0..3),
        option::weighted(0.2, sort),
        option::weighted(0.3, unit()),
        option::of(expr()),
    )
        .prop_map(|(name, sizes, sort, unit, value)| Declarator {
            name,
            sizes,
            sort,
            unit,
            value,
            span: Span::default(),
        });
    vec(declarator, 1..3)
}

fn actions() -> impl Strategy<Value = Vec<Action>> {
    let assign =
        (expr(), expr()).prop_map(|(target, value)| Action::Assign { target, value, span: Span::default() });
    let action = assign.prop_recursive(2, 4, 2, |inner| {
        (name(), expr(), expr(), vec(inner, 0..2)).prop_map(|(variable, from, to, body)| Action::For {
            variable,
            from,
            to,
            body,
            span: Span::default(),
        })
    });
    vec(action, 0..3)
}

fn rule() -> impl Strategy<Value = Rule> {
    let trigger = prop_oneof![
        expr().prop_map(Trigger::When),
        expr().prop_map(Trigger::At),
        expr().prop_map(Trigger::After),
        expr().prop_map(Trigger::Every),
        expr().prop_map(Trigger::On),
        Just(Trigger::Else),
    ];
    let target = (any::<bool>(), name()).prop_map(|(history, mode)| TransitionTarget { history, mode });
    (any::<bool>(), any::<bool>(), trigger, option::of(expr()), option::of(target), actions()).prop_map(
        |(may, preempt, trigger, condition, target, actions)| {
            let plain = matches!(trigger, Trigger::When(_) | Trigger::Else);
            let condition = if plain { None } else { condition };
            Rule { may, preempt, trigger, condition, target, actions, head: Span::default() }
        },
    )
}

fn settings() -> impl Strategy<Value = Vec<RunSetting>> {
    let option_name = select(vec!["rtol", "policy", "title"])
        .prop_map(|text| Name { text: text.into(), span: Span::default() });
    let value = prop_oneof![
        text(),
        select(vec!["1e-8", "-3", "random", "true", "- 3", " 3", "3 [m]", "1.", "a b", "/**/"])
            .prop_map(str::to_string),
    ];
    vec(
        prop_oneof![
            expr().prop_map(RunSetting::Until),
            (vec(expr(), 1..3), option::of(expr())).prop_map(|(series, over)| RunSetting::Plot {
                series,
                over,
                span: Span::default()
            }),
            (option_name, value).prop_map(|(name, value)| RunSetting::Option {
                name,
                value,
                span: Span::default()
            }),
        ],
        0..4,
    )
}

fn statement() -> impl Strategy<Value = Statement> {
    let declared = select(vec![
        DeclarationKind::Param,
        DeclarationKind::State,
        DeclarationKind::Memory,
        DeclarationKind::Signal,
        DeclarationKind::Input,
        DeclarationKind::Output,
    ]);
    let whole = |kind| Statement { kind, span: Span::default() };
    let leaf = prop_oneof![
        (declared, declarators()).prop_map(|(k, d)| StatementKind::Declare(k, d)),
        (name(), vec(expr(), 0..3)).prop_map(|(name, times)| StatementKind::Event { name, times }),
        (name(), name(), vec(expr(), 0..2), vec((name(), expr()), 0..3)).prop_map(
            |(name, class, sizes, arguments)| StatementKind::Instance { name, class, sizes, arguments }
        ),
        (expr(), expr()).prop_map(|(lhs, rhs)| StatementKind::Equation { lhs, rhs }),
        vec(expr(), 1..3).prop_map(StatementKind::Hold),
        rule().prop_map(StatementKind::Rule),
        expr().prop_map(StatementKind::Invariant),
        expr().prop_map(StatementKind::Domain),
        (expr(), option::of(text())).prop_map(|(guard, message)| StatementKind::Stop { guard, message }),
        settings().prop_map(StatementKind::Run),
    ]
    .prop_map(whole);
    leaf.prop_recursive(3, 12, 3, move |inner| {
        let body = vec(inner, 0..3);
        let mode = (any::<bool>(), name(), body.clone()).prop_map(|(initial, name, body)| Mode {
            initial,
            name,
            body,
            span: Span::default(),
        });
        prop_oneof![
            body.clone().prop_map(StatementKind::Flow),
            (name(), expr(), expr(), body).prop_map(|(variable, from, to, body)| StatementKind::For {
                variable,
                from,
                to,
                body
            }),
            (option::of(name()), vec(mode, 0..3))
                .prop_map(|(name, modes)| StatementKind::Automaton { name, modes }),
        ]
        .prop_map(whole)
    })
}

fn file() -> impl Strategy<Value = File> {
    let kind = select(vec![ClassKind::Model, ClassKind::Component]);
    let item = prop_oneof![
        1 => text().prop_map(|path| Item::Use { path, span: Span::default() }),
        2 => (name(), vec(name(), 0..3), expr()).prop_map(|(name, arguments, body)| {
            Item::Function(Function { name, arguments, body, span: Span::default() })
        }),
        1 => declarators().prop_map(Item::Params),
        4 => (kind, name(), option::of(declarators()), vec(statement(), 0..4)).prop_map(
            |(kind, name, parameters, body)| {
                let parameters = parameters.unwrap_or_default();
                Item::Class(Class { kind, name, parameters, body, span: Span::default() })
            }
        ),
    ];
    vec(item, 0..3).prop_map(|items| File { items })
}

/// Reads a text that must be free of errors.
fn read(text: &str) -> File {
    let (file, diagnostics) = parse(0, text);
    assert!(diagnostics.is_empty(), "{text}\n{diagnostics:#?}");
    file
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn random_trees_come_back(tree in file()) {
        let text = print(&tree);
        let again = read(&text);
        prop_assert_eq!(without_places(&tree), without_places(&again), "{}", text);
        prop_assert_eq!(print(&again), text);
    }

    #[test]
    fn tidying_printed_text_keeps_its_meaning(tree in file()) {
        let text = print(&tree);
        let tidy = format(&text).unwrap();
        prop_assert_eq!(without_places(&tree), without_places(&read(&tidy)), "{}", tidy);
        prop_assert_eq!(format(&tidy).unwrap(), tidy);
    }

    #[test]
    fn any_text_is_survived(pieces in vec(select(FRAGMENTS), 0..60)) {
        let text: String = pieces.concat();
        let (tree, diagnostics) = parse(0, &text);
        prop_assert!(diagnostics.iter().all(|d| text.is_char_boundary(d.span.start as usize)
            && text.is_char_boundary(d.span.end as usize)
            && d.span.start <= d.span.end
            && !d.message.is_empty()));
        if diagnostics.is_empty() {
            prop_assert_eq!(without_places(&tree), without_places(&read(&print(&tree))));
        }
    }
}

const FRAGMENTS: &[&str] = &[
    "model A {",
    "}",
    "{",
    "(",
    ")",
    "[",
    "]",
    "\n",
    ";",
    " ",
    "x",
    "x'",
    "=",
    ":=",
    "->",
    "when ",
    "flow {",
    "automaton {",
    "mode B {",
    "initial ",
    "1",
    "1.",
    "..",
    "2.5e",
    "\"",
    "'",
    "//",
    "/*",
    "*/",
    "for i in 1..3 {",
    "if ",
    "then ",
    "else ",
    "not ",
    "-",
    "+",
    "^",
    ",",
    ":",
    "[m]",
    "é",
    "²",
    "state ",
    "run {",
    "until 3",
    "&&",
    "der(x)",
    "component C(",
    "fn f(",
    "use ",
    "at 1",
    "stop when ",
    "plot x",
    "=>",
    "\\",
    "\u{feff}",
    "param p",
];

#[test]
fn tidy_text_keeps_comments_breaks_and_numbers() {
    let text = "\
// about the model
use   \"lib.salt\"  // library


/* several
   lines */
model A(lo=1.50,  // low
        hi = 2) {   // opens
  state x = 1e0, // start
    y=(3)*2
  // alone

  flow {x'=v;v'=-g}

  A = [
     [1,2],
     [3,4]
   ]
  z = a +
      b * (c +
      d)
  when x<=0 and v<0 {
    // upwards again
    v:=-e*v
    // last
  }
  initial = if x > 0
     then 1
     else 2
  on press -> B {
    // nothing
  }
}
// end";
    let text = &text.replace("initial =", "start =");
    let expected = "\
// about the model
use \"lib.salt\"  // library

/* several
   lines */
model A(lo = 1.50,
    hi = 2) {  // low
    // opens
    state x = 1e0,
        y = (3) * 2  // start
    // alone

    flow { x' = v; v' = -g }

    A = [
        [1, 2],
        [3, 4]
    ]
    z = a +
        b * (c +
        d)
    when x <= 0 and v < 0 {
        // upwards again
        v := -e * v
        // last
    }
    start = if x > 0
        then 1
        else 2
    on press -> B {
        // nothing
    }
}
// end
";
    let tidy = format(text).unwrap();
    assert_eq!(tidy, expected);
    assert_eq!(format(&tidy).unwrap(), tidy);
}

#[test]
fn empty_lines_stay_one() {
    let text = "use \"a\"\n\n\nparam g = 1\n\n// c\n\nparam h = 2\nmodel A {\n\n    run {\n        seed 1\n\n        until 2\n    }\n\n}\n";
    let expected = "use \"a\"\n\nparam g = 1\n\n// c\n\nparam h = 2\nmodel A {\n    run {\n        seed 1\n\n        until 2\n    }\n}\n";
    assert_eq!(format(text).unwrap(), expected);
}

#[test]
fn long_blocks_go_on_several_lines() {
    let long = "x".repeat(60);
    let text = format!("model A {{ flow {{ {long} = {long} }} }}");
    let expected = format!("model A {{\n    flow {{\n        {long} = {long}\n    }}\n}}\n");
    assert_eq!(print(&read(&text)), expected);
    assert_eq!(format(&text).unwrap(), expected);
}

#[test]
fn faulty_text_is_not_tidied() {
    assert_eq!(format("model A { x = }").unwrap_err().len(), 1);
}

#[test]
fn the_tallest_tree_survives_a_small_stack() {
    let work = || {
        let terms = MAX_HEIGHT as usize;
        let tall = format!("fn f(x) = {}", vec!["x"; terms].join(" + "));
        let tree = read(&tall);
        assert_eq!(print(&tree).trim_end(), tall);
        assert_eq!(tree.clone(), tree);
        assert_eq!(parse(0, &format!("{tall} + x")).1.len(), 1);
    };
    std::thread::Builder::new().stack_size(1 << 20).spawn(work).unwrap().join().unwrap();
}
