//! From runs to figures: curves with their jumps and gaps, the modes of nested automata, and the
//! panels that are chosen if the model asks for none.

use saltus::{Figure, Model};

fn figure(text: &str) -> Figure {
    let model = Model::from_text("m.salt", text).unwrap_or_else(|e| panic!("{e}"));
    let run = model.run(model.options().unwrap()).unwrap();
    model.figure(&run)
}

fn stays(figure: &Figure, automaton: &str) -> Vec<(String, f64, f64)> {
    let band = figure.bands.iter().find(|b| b.automaton == automaton).expect(automaton);
    band.spans.iter().map(|s| (s.mode.clone(), s.t0, s.t1)).collect()
}

#[test]
fn a_jump_ends_a_piece_only_where_the_value_jumps() {
    let drawn = figure(
        "model M {
            state x = 0, v = 1
            flow { x' = v; hold v }
            at 1 { v := -1 }
            run { until 2; plot x; plot v }
        }",
    );
    let [x, v] = [0, 1].map(|k| &drawn.panels[k].series[0].pieces);
    assert_eq!(x.len(), 1, "x is continuous: {x:?}");
    assert_eq!(x[0].iter().find(|p| p.0 == 1.0), Some(&(1.0, 1.0)), "its kink is a point");
    assert_eq!(*v, [[(0.0, 1.0), (1.0, 1.0)], [(1.0, -1.0), (2.0, -1.0)]]);
    assert_eq!(drawn.marks.iter().map(|m| (m.t, m.label.as_str())).collect::<Vec<_>>(), [(1.0, "at 1")]);
}

#[test]
fn a_step_of_an_output_ends_a_piece() {
    let drawn = figure(
        "model M {
            state x = 0
            x' = if x < 1 then 1 else 2
            output z = floor(x)
            run { until 1.25; plot x; plot z }
        }",
    );
    let [x, z] = [0, 1].map(|k| &drawn.panels[k].series[0].pieces);
    assert_eq!(x.len(), 1, "x is continuous: {x:?}");
    assert_eq!(*z, [[(0.0, 0.0), (1.0, 0.0)], [(1.0, 1.0), (1.25, 1.0)]]);
}

#[test]
fn curves_are_smooth_at_the_size_of_the_screen() {
    let drawn = figure("model M { state x = 0; x' = cos(time); run { until 50; plot x } }");
    let points = &drawn.panels[0].series[0].pieces[0];
    for pair in points.windows(2) {
        let middle = (0.5 * (pair[0].0 + pair[1].0)).sin();
        // A picture is some 200 pixels high for the range from -1 to 1.
        assert!((middle - 0.5 * (pair[0].1 + pair[1].1)).abs() < 0.1 * 0.01, "{pair:?}");
    }
    assert!(points.len() < 5000, "{}", points.len());
}

#[test]
fn variables_of_a_mode_leave_gaps() {
    let drawn = figure(
        "model M {
            automaton A {
                initial mode P { after 1 -> Q }
                mode Q { state y = 3; y' = 1; after 1 -> P }
            }
            run { until 4 }
        }",
    );
    let pieces = &drawn.panels[0].series[0].pieces;
    let ends: Vec<_> = pieces.iter().filter(|p| !p.is_empty()).map(|p| (p[0], p[p.len() - 1])).collect();
    assert_eq!(ends, [((1.0, 3.0), (2.0, 4.0)), ((3.0, 3.0), (4.0, 4.0))]);
    assert!(pieces[1].is_empty(), "an empty piece is a gap: {pieces:?}");
}

#[test]
fn nested_automata_come_go_and_resume_by_history() {
    let drawn = figure(
        "model M {
            automaton Outer {
                initial mode Work {
                    automaton Inner {
                        initial mode A { after 1 -> B }
                        mode B { }
                    }
                    at 2 -> Pause
                    at 5 -> Pause
                }
                mode Pause {
                    at 3 -> history Work
                    at 6 -> Work
                }
            }
            run { until 6.5 }
        }",
    );
    let named = |stays: Vec<(String, f64, f64)>| {
        stays.into_iter().map(|(m, a, b)| format!("{m} {a}..{b}")).collect::<Vec<_>>().join(", ")
    };
    assert_eq!(named(stays(&drawn, "Outer")), "Work 0..2, Pause 2..3, Work 3..5, Pause 5..6, Work 6..6.5");
    assert_eq!(named(stays(&drawn, "Inner")), "A 0..1, B 1..2, B 3..5, A 6..6.5");
}

#[test]
fn states_are_shown_if_nothing_is_asked_for() {
    let drawn = figure(
        "component C { state a = 0, b = 1; hold a; hold b }
         model M { parts: C[20]; state z = 2; hold z; run { until 1 } }",
    );
    let labels: Vec<Vec<&str>> =
        drawn.panels.iter().map(|p| p.series.iter().map(|s| s.label.as_str()).collect()).collect();
    assert_eq!(labels.len(), 3, "{labels:?}");
    let of_a = labels.iter().find(|l| l[0] == "parts[1].a").expect("the a of all parts in one panel");
    assert_eq!(of_a[1], "parts[2].a");
    assert!(of_a.len() < 20);
    assert!(drawn.panels.iter().any(|p| p.y_label.as_deref().is_some_and(|l| l.ends_with("of 20 curves"))));
    assert!(labels.iter().any(|l| *l == ["z"]));
}

#[test]
fn what_happens_often_is_named_once_and_never_crowds() {
    let drawn = figure(
        "model M {
            state x = 0
            memory n = 0
            x' = 1
            when x >= 1 { x := 0; n := n + 1 }
            run { until 20000; plot n }
        }",
    );
    assert_eq!(drawn.marks.iter().filter(|m| !m.label.is_empty()).count(), 1);
    assert!((3000..6000).contains(&drawn.marks.len()), "{}", drawn.marks.len());
    assert!(drawn.marks.last().is_some_and(|m| m.t > 19900.0), "up to the end of the run");
}
