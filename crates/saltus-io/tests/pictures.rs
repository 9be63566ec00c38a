//! Pictures are well formed, complete and readable: checked on samples and on random figures.

mod samples;

use proptest::prelude::*;
use saltus_io::figure::{Band, Figure, Horizontal, Mark, ModeSpan, Panel, Series};
use saltus_io::graph::{self, GraphOptions};
use saltus_io::plot::Style;
use saltus_io::scene::{Item, Rect, Scene};
use saltus_io::svg;

fn all_scenes() -> Vec<(&'static str, Scene)> {
    let figures = samples::all().into_iter().map(|(name, figure)| (name, figure.scene(&Style::default())));
    let systems = samples::systems::all().into_iter();
    figures.chain(systems.map(|(name, s)| (name, graph::scene(&s, &GraphOptions::default())))).collect()
}

/// No text lies over another or leaves the picture.
fn check_texts(name: &str, scene: &Scene) -> Result<(), String> {
    let page = Rect::new(0.0, 0.0, scene.width, scene.height);
    let texts: Vec<(&str, Rect)> = scene.texts().map(|t| (t.text.as_str(), t.area())).collect();
    for (k, (text, area)) in texts.iter().enumerate() {
        let inside =
            area.x >= page.x && area.right() <= page.w && area.y >= page.y && area.bottom() <= page.h;
        if !inside {
            return Err(format!("{name}: `{text}` leaves the page {page:?}: {area:?}"));
        }
        if let Some((other, _)) = texts[k + 1..].iter().find(|(_, other)| area.grown(-0.3).overlaps(other)) {
            return Err(format!("{name}: `{text}` lies over `{other}`"));
        }
    }
    Ok(())
}

/// The document parses and every number in it is finite.
fn check_document(name: &str, text: &str) {
    let document = roxmltree::Document::parse(text).unwrap_or_else(|e| panic!("{name}: {e}"));
    let numeric = ["x", "y", "cx", "cy", "r", "width", "height", "stroke-width", "font-size", "rx"];
    for node in document.descendants().filter(|n| n.is_element()) {
        for attribute in node.attributes().filter(|a| numeric.contains(&a.name())) {
            let value: f64 = attribute.value().parse().unwrap_or(f64::NAN);
            assert!(value.is_finite(), "{name}: {} = {}", attribute.name(), attribute.value());
        }
        if let Some(data) = node.attribute("d") {
            let numbers = data.split(['M', 'l', 'c', 'z', ' ']).filter(|s| !s.is_empty());
            assert!(numbers.map(str::parse::<f64>).all(|n| n.is_ok_and(f64::is_finite)), "{name}: {data}");
        }
    }
}

#[test]
fn samples_are_well_formed_and_free_of_overlaps() {
    for (name, scene) in all_scenes() {
        check_texts(name, &scene).unwrap();
        check_document(name, &svg::write(&scene));
    }
}

#[test]
fn the_same_picture_has_the_same_bytes() {
    let files = || all_scenes().into_iter().map(|(_, scene)| svg::write(&scene)).collect::<Vec<_>>();
    assert_eq!(files(), files());
}

#[test]
fn a_jump_is_drawn_as_a_jump() {
    let scene = samples::bouncing_ball(3).scene(&Style::default());
    let circles = scene.items.iter().filter(|item| matches!(item, Item::Circle { .. })).count();
    // Three bounces of the speed, each with the value before and after; the height is continuous.
    assert_eq!(circles, 6);
}

#[test]
fn files_stay_small() {
    let points = (0..1_000_000).map(|k| f64::from(k) * 1e-5).map(|t| (t, (40.0 * t).sin() + t)).collect();
    let series = Series { label: "x".into(), unit: None, pieces: vec![points] };
    let figure =
        Figure { panels: vec![Panel { series: vec![series], ..Panel::default() }], ..Figure::default() };
    let size = figure.svg().len();
    assert!(size < 80_000, "{size}");
    let chattering = samples::thermostat(5000.0);
    assert!(chattering.bands[0].spans.len() > 10_000);
    let size = chattering.svg().len();
    assert!(size < 200_000, "{size}");
}

#[test]
fn every_mode_is_named_in_its_strip_or_in_the_key() {
    let figure = samples::thermostat(60.0);
    let scene = figure.scene(&Style::default());
    for span in &figure.bands[0].spans {
        assert!(scene.texts().any(|t| t.text == span.mode), "{}", span.mode);
    }
}

#[test]
fn equal_instances_are_drawn_once() {
    let scene = graph::scene(&samples::systems::three_levels(), &GraphOptions::default());
    let count = |text: &str| scene.texts().filter(|t| t.text == text).count();
    assert_eq!((count("rooms[1..3]"), count("× 3"), count("Heating"), count("H")), (1, 1, 1, 2));
}

fn words() -> impl Strategy<Value = String> {
    "[a-zA-Z]{1,12}( [a-z]{1,14}){0,4}"
}

fn series() -> impl Strategy<Value = Series> {
    let point = (0.0..100.0f64, -1e3..1e3f64);
    let pieces = proptest::collection::vec(proptest::collection::vec(point, 0..6), 0..4);
    (words(), proptest::option::of("[a-z]{1,3}(/[a-z])?(\\^[2-3])?"), pieces, -12..13i32).prop_map(
        |(label, unit, mut pieces, size)| {
            for p in pieces.iter_mut().flatten() {
                p.1 *= 10f64.powi(size);
            }
            Series { label, unit, pieces }
        },
    )
}

fn figure() -> impl Strategy<Value = Figure> {
    let horizontal = prop_oneof![
        3 => Just(Horizontal::Shared),
        1 => (words(), any::<bool>()).prop_map(|(label, equal_aspect)| Horizontal::Own { label, equal_aspect }),
    ];
    let panel = (proptest::collection::vec(series(), 0..5), horizontal);
    let panels = proptest::collection::vec(panel, 0..4);
    let band = (words(), proptest::collection::vec((0.0..10.0f64, words()), 0..12));
    let bands = proptest::collection::vec(band, 0..4);
    let marks = proptest::collection::vec((0.0..100.0f64, words()), 0..20);
    (words(), panels, bands, marks, words()).prop_map(|(title, panels, bands, marks, x_label)| {
        let band = |(automaton, stays): (String, Vec<(f64, String)>)| {
            let mut t = 0.0;
            let spans = stays.into_iter().map(|(stay, mode)| {
                t += stay;
                ModeSpan { t0: t - stay, t1: t, mode }
            });
            Band { automaton, spans: spans.collect() }
        };
        Figure {
            title,
            panels: panels
                .into_iter()
                .map(|(series, horizontal)| Panel { series, horizontal, y_label: None })
                .collect(),
            bands: bands.into_iter().map(band).collect(),
            marks: marks.into_iter().map(|(t, label)| Mark { t, label }).collect(),
            x_label,
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn no_text_lies_over_another_in_any_figure(figure in figure(), width in 300.0..1200.0f64) {
        let scene = figure.scene(&Style { width, panel_height: None });
        if let Err(problem) = check_texts("random", &scene) {
            prop_assert!(false, "{}", problem);
        }
        check_document("random", &svg::write(&scene));
    }
}
