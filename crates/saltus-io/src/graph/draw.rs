//! Boxes, arrows and texts of a model's outline.
//!
//! Every box is drawn at the origin once its inside is known, and then placed by what is around it.

use crate::font::{self, Weight};
use crate::graph::layered::{self, Edge, Layout, Node, Route};
use crate::graph::outline::{Arrow, Chart, Part, State};
use crate::graph::{GraphOptions, pack};
use crate::scene::{Anchor, Colour, Paint, Rect, Scene, Segment, Stroke, Text};

const SIZE: f64 = 11.0;
const NAME: f64 = 12.0;
const LEADING: f64 = 14.0;
/// Space inside a box around its content.
const PADDING: f64 = 10.0;
/// Space between boxes.
const GAP: f64 = 14.0;
/// Longer lines inside boxes are cut.
const LINE_WIDTH: f64 = 250.0;
/// Longer labels of arrows are broken.
const LABEL_WIDTH: f64 = 170.0;
/// More lines at an arrow are cut.
const LABEL_LINES: usize = 4;
/// Boxes are widened up to this for the sake of straight arrows.
const WIDENED: f64 = 150.0;
/// Length of an arrow head.
const HEAD: f64 = 8.0;
/// Radius of the circle that marks history.
const HISTORY: f64 = 7.5;
/// Room above the initial mode for its mark.
const INITIAL: f64 = 24.0;
/// Width of the loop of a transition from a mode to itself.
const LOOP: f64 = 24.0;

const LINE: Colour = Colour(0x3d4f63);
const MODE_FILL: Colour = Colour(0xe8f1fa);
const MODE_BORDER: Colour = Colour(0x4f79a7);
const PART_FILL: Colour = Colour(0xf7f7f5);
const PART_BORDER: Colour = Colour(0x8c8c88);
const QUIET: Colour = Colour(0x555555);

/// Draws an outline.
pub fn scene(root: &Part, options: &GraphOptions) -> Scene {
    let drawing = Drawing { most_lines: options.lines }.part(root);
    let (width, height) = (drawing.width + 2.0 * GAP, drawing.height + 2.0 * GAP);
    let mut scene =
        Scene { width: width.ceil(), height: height.ceil(), title: root.title.clone(), items: vec![] };
    scene.place(drawing, GAP, GAP);
    scene
}

struct Drawing {
    most_lines: usize,
}

/// An empty drawing of a size.
fn sized(width: f64, height: f64) -> Scene {
    Scene { width, height, ..Scene::default() }
}

impl Drawing {
    fn part(&self, part: &Part) -> Scene {
        let heading = heading(part);
        let lines = self.lines(&part.lines);
        let inside = self.inside(&part.charts, &part.parts);
        let shadow = if part.copies > 1 { 6.0 } else { 0.0 };
        let width =
            [heading.width, lines.width, inside.width].into_iter().fold(60.0, f64::max) + 2.0 * PADDING;
        let below = |s: &Scene| if s.height > 0.0 { s.height + 8.0 } else { 0.0 };
        let height = PADDING + heading.height + below(&lines) + below(&inside) + PADDING - 2.0;
        let mut scene = sized(width + shadow, height + shadow);
        let paint = Paint::both(PART_FILL, Stroke::solid(PART_BORDER, 1.0));
        for back in [shadow, shadow / 2.0].into_iter().filter(|&d| d > 0.0) {
            scene.rect(Rect::new(back, back, width, height), 7.0, paint);
        }
        scene.rect(Rect::new(0.0, 0.0, width, height), 7.0, paint);
        let mut y = PADDING - 2.0;
        for content in [heading, lines, inside].into_iter().filter(|s| s.height > 0.0) {
            let step = content.height + 8.0;
            scene.place(content, PADDING, y);
            y += step;
        }
        scene
    }

    fn lines(&self, lines: &[String]) -> Scene {
        let more = lines.len().saturating_sub(self.most_lines);
        let shown =
            lines.iter().take(self.most_lines).map(|l| font::fit(l, SIZE, Weight::Regular, LINE_WIDTH));
        let rest = (more > 0).then(|| format!("… {more} more"));
        text_block(&shown.chain(rest).collect::<Vec<_>>(), QUIET)
    }

    /// Automata and components side by side.
    fn inside(&self, charts: &[Chart], parts: &[Part]) -> Scene {
        let alone = charts.len() + parts.len() == 1;
        let charts = charts.iter().map(|chart| self.chart(chart, !alone));
        let drawn: Vec<Scene> = charts.chain(parts.iter().map(|part| self.part(part))).collect();
        let sizes: Vec<(f64, f64)> = drawn.iter().map(|s| (s.width, s.height)).collect();
        let (places, (width, height)) = pack::rows(&sizes, GAP);
        let mut scene = sized(width, height);
        for (content, (x, y)) in drawn.into_iter().zip(places) {
            scene.place(content, x, y);
        }
        scene
    }

    /// The box of a mode, at least so wide.
    fn state(&self, state: &State, least: f64) -> Scene {
        let contents = [self.lines(&state.lines), self.inside(&state.charts, &state.parts)];
        let plain = contents.iter().all(|c| c.height == 0.0);
        let name = font::fit(&state.name, NAME, Weight::Bold, LINE_WIDTH);
        let name_width = font::width(&name, NAME, Weight::Bold);
        let widest = contents.iter().map(|c| c.width).fold(name_width.max(50.0), f64::max);
        let width = (widest + 2.0 * PADDING).max(least);
        let top = if plain { 30.0 } else { 26.0 };
        let filled = contents.iter().filter(|c| c.height > 0.0);
        let height = top + filled.map(|c| c.height + PADDING).sum::<f64>();
        let mut scene = sized(width, height);
        let composite = !(state.charts.is_empty() && state.parts.is_empty());
        let fill = if composite { MODE_FILL.lighter(0.65) } else { MODE_FILL };
        let border = Stroke::solid(MODE_BORDER, 1.1);
        scene.rect(Rect::new(0.0, 0.0, width, height), 8.0, Paint::both(fill, border));
        let baseline = top / 2.0 + NAME * font::CAP_HEIGHT / 2.0;
        scene.text(Text::new(width / 2.0, baseline, NAME, Anchor::Middle, name).bold());
        if !plain {
            scene.line((0.0, top), (width, top), Stroke::solid(MODE_BORDER.lighter(0.55), 0.8));
        }
        let mut y = top + PADDING / 2.0;
        for content in contents.into_iter().filter(|c| c.height > 0.0) {
            let step = content.height + PADDING;
            let x = if composite { (width - content.width) / 2.0 } else { PADDING };
            scene.place(content, x, y);
            y += step;
        }
        scene
    }

    fn chart(&self, chart: &Chart, bordered: bool) -> Scene {
        let labels: Vec<Scene> = chart.arrows.iter().map(label).collect();
        let width = |k: usize| width_for_arrows(chart, &labels, k);
        let states: Vec<Scene> =
            chart.states.iter().enumerate().map(|(k, s)| self.state(s, width(k))).collect();
        let placed = Placed::new(chart, states, labels);
        let title = font::fit(&chart.title, SIZE, Weight::Regular, LINE_WIDTH);
        let title_width = font::width(&title, SIZE, Weight::Regular);
        let (margin, top) = (if bordered { PADDING } else { 0.0 }, if title.is_empty() { 0.0 } else { 18.0 });
        let inner = placed.layout.size;
        // The initial mark stands beside the title where it can.
        let lift = if placed.mark_x() > title_width + 16.0 { INITIAL.max(top) } else { INITIAL + top };
        let width = inner.0.max(title_width) + 2.0 * margin;
        let mut scene = sized(width, lift + inner.1 + 2.0 * margin);
        if bordered {
            let border = Stroke::dashed(PART_BORDER, 0.9, 4.0, 3.0);
            let area = Rect::new(0.0, 0.0, scene.width, scene.height);
            scene.rect(area, 7.0, Paint::both(Colour::WHITE, border));
        }
        scene.text(Text::new(margin, margin + SIZE - 1.0, SIZE, Anchor::Start, title).colour(QUIET));
        let shift = (inner.0.max(title_width) - inner.0) / 2.0;
        scene.place(placed.draw(), margin + shift, margin + lift);
        scene
    }
}

/// Name, component and number of a part.
fn heading(part: &Part) -> Scene {
    let mut scene = sized(0.0, NAME + 2.0);
    let mut add = |text: Text| {
        scene.width = text.area().right();
        scene.text(text);
    };
    let title = Text::new(0.0, NAME - 1.0, NAME, Anchor::Start, part.title.clone()).bold();
    let mut x = title.width();
    add(title);
    if !part.class.is_empty() && part.class != part.title {
        let class = Text::new(x, NAME - 1.0, NAME, Anchor::Start, format!(" : {}", part.class)).colour(QUIET);
        x += class.width();
        add(class);
    }
    if part.copies > 1 {
        add(Text::new(x + 8.0, NAME - 1.0, NAME, Anchor::Start, format!("× {}", part.copies)).bold());
    }
    scene
}

/// Lines of text below each other.
fn text_block(lines: &[String], colour: Colour) -> Scene {
    let width = lines.iter().map(|l| font::width(l, SIZE, Weight::Regular)).fold(0.0, f64::max);
    let mut scene = sized(width, lines.len() as f64 * LEADING);
    for (k, line) in lines.iter().enumerate() {
        let baseline = k as f64 * LEADING + LEADING / 2.0 + SIZE * font::CAP_HEIGHT / 2.0;
        scene.text(Text::new(0.0, baseline, SIZE, Anchor::Start, line.clone()).colour(colour));
    }
    scene
}

/// The text at an arrow.
fn label(arrow: &Arrow) -> Scene {
    let wrapped = arrow.label.iter().flat_map(|line| font::wrap(line, SIZE, Weight::Regular, LABEL_WIDTH));
    let mut lines: Vec<String> = wrapped.map(|l| font::fit(&l, SIZE, Weight::Regular, LABEL_WIDTH)).collect();
    if lines.len() > LABEL_LINES {
        lines.truncate(LABEL_LINES);
        lines[LABEL_LINES - 1].push_str(" …");
    }
    text_block(&lines, Colour::INK)
}

/// An automaton with its modes and labels drawn and its layout known.
struct Placed<'a> {
    chart: &'a Chart,
    states: Vec<Scene>,
    labels: Vec<Scene>,
    layout: Layout,
    /// Positions of the arrows between different modes, in the order of the layout's edges.
    between: Vec<usize>,
}

impl<'a> Placed<'a> {
    fn new(chart: &'a Chart, mut states: Vec<Scene>, labels: Vec<Scene>) -> Self {
        let mut beside = vec![0.0_f64; states.len()];
        for (k, state) in states.iter_mut().enumerate() {
            let loops = own_loops(chart, k);
            let room: f64 = loops.iter().map(|&a| loop_height(&labels[a])).sum();
            if room > 0.0 {
                grow(state, room + 8.0);
                let widest = loops.iter().map(|&a| labels[a].width).fold(0.0, f64::max);
                beside[k] = LOOP + 6.0 + widest;
            }
        }
        let sizes = states.iter().zip(&beside);
        let nodes: Vec<Node> = sizes.map(|(s, &beside)| Node { size: (s.width, s.height), beside }).collect();
        let between: Vec<usize> =
            (0..chart.arrows.len()).filter(|&k| chart.arrows[k].from != chart.arrows[k].to).collect();
        let edge = |&k: &usize| {
            let Arrow { from, to, history, .. } = chart.arrows[k];
            let head = HEAD + if history { 2.0 * HISTORY } else { 0.0 };
            Edge { from, to, label: (labels[k].width, labels[k].height), head }
        };
        let edges: Vec<Edge> = between.iter().map(edge).collect();
        let layout = layered::layout(&nodes, &edges, chart.initial);
        Self { chart, states, labels, layout, between }
    }

    /// Where the initial mark stands.
    fn mark_x(&self) -> f64 {
        let place = self.layout.nodes.get(self.chart.initial).map_or(0.0, |p| p.0);
        place + self.states.get(self.chart.initial).map_or(0.0, |s| s.width) / 2.0
    }

    fn draw(mut self) -> Scene {
        let mut scene = sized(self.layout.size.0, self.layout.size.1);
        for (route, &k) in self.layout.edges.iter().zip(&self.between) {
            arrow(&mut scene, route, &self.chart.arrows[k]);
            scene.place(std::mem::take(&mut self.labels[k]), route.label.0, route.label.1);
        }
        for k in 0..self.states.len() {
            self.loops(&mut scene, k);
        }
        self.initial_mark(&mut scene);
        for (state, &(x, y)) in self.states.into_iter().zip(&self.layout.nodes) {
            scene.place(state, x, y);
        }
        scene
    }

    fn initial_mark(&self, scene: &mut Scene) {
        let Some(&(_, top)) = self.layout.nodes.get(self.chart.initial) else { return };
        let (x, dot) = (self.mark_x(), top - INITIAL + 5.0);
        scene.circle(x, dot, 3.5, Paint::fill(LINE));
        scene.line((x, dot), (x, top - HEAD + 1.0), Stroke::solid(LINE, 1.1));
        head(scene, (x, top), (0.0, 1.0));
    }

    /// Arrows from a mode to itself, below each other at its right side.
    fn loops(&mut self, scene: &mut Scene, state: usize) {
        let (left, top) = self.layout.nodes[state];
        let (right, height) = (left + self.states[state].width, self.states[state].height);
        let loops = own_loops(self.chart, state);
        let total: f64 = loops.iter().map(|&a| loop_height(&self.labels[a])).sum();
        let mut y = top + (height - total) / 2.0;
        for k in loops {
            let label = std::mem::take(&mut self.labels[k]);
            let room = loop_height(&label);
            let (middle, arrow) = (y + room / 2.0, &self.chart.arrows[k]);
            let (from, to, out) = (middle - 8.0, middle + 8.0, right + LOOP);
            let inset = if arrow.history { 2.0 * HISTORY } else { 0.0 };
            let end = right + inset;
            let line = vec![
                Segment::Move(right, from),
                Segment::Cubic(out, from, out + 4.0, to, end + HEAD - 1.0, to),
            ];
            scene.path(line, Paint::stroke(arrow_stroke(arrow)));
            head(scene, (end, to), (-1.0, 0.0));
            if arrow.history {
                history_mark(scene, right + HISTORY, to);
            }
            let label_height = label.height;
            scene.place(label, right + LOOP + 2.0, middle - label_height / 2.0);
            y += room;
        }
    }
}

/// Width of a mode's box at which its arrows to one neighbour are straight, within reason.
fn width_for_arrows(chart: &Chart, labels: &[Scene], state: usize) -> f64 {
    let to = |other: usize| {
        let arrows = chart.arrows.iter().zip(labels).filter(move |(a, _)| {
            other != state && ((a.from, a.to) == (state, other) || (a.to, a.from) == (state, other))
        });
        let widths: Vec<f64> = arrows.map(|(_, label)| label.width + layered::LABEL_ROOM).collect();
        widths.iter().sum::<f64>() - widths.iter().copied().fold(0.0, f64::max) + 2.0 * PADDING + 4.0
    };
    (0..chart.states.len()).map(to).fold(0.0, f64::max).min(WIDENED)
}

/// Positions of the arrows from a mode to itself.
fn own_loops(chart: &Chart, state: usize) -> Vec<usize> {
    let is_loop = |a: &Arrow| a.from == state && a.to == state;
    (0..chart.arrows.len()).filter(|&k| is_loop(&chart.arrows[k])).collect()
}

fn loop_height(label: &Scene) -> f64 {
    label.height.max(20.0) + 6.0
}

/// Makes a mode's box at least so high.
fn grow(state: &mut Scene, height: f64) {
    if state.height >= height {
        return;
    }
    state.height = height;
    if let Some(crate::scene::Item::Rect { area, .. }) = state.items.first_mut() {
        area.h = height;
    }
}

fn arrow_stroke(arrow: &Arrow) -> Stroke {
    if arrow.may { Stroke::dashed(LINE, 1.1, 5.0, 3.5) } else { Stroke::solid(LINE, 1.1) }
}

/// A routed arrow with its head and marks.
fn arrow(scene: &mut Scene, route: &Route, arrow: &Arrow) {
    let down = if route.upwards { -1.0 } else { 1.0 };
    let (x, mut y) = route.end;
    if arrow.history {
        history_mark(scene, x, y - down * HISTORY);
        y -= down * 2.0 * HISTORY;
    }
    let mut segments = route.segments.clone();
    if let Some(Segment::Line(_, end)) = segments.last_mut() {
        *end = y - down * (HEAD - 1.0);
    }
    scene.path(segments, Paint::stroke(arrow_stroke(arrow)));
    head(scene, (x, y), (0.0, down));
}

/// A filled arrow head with its tip at a point, along a direction.
fn head(scene: &mut Scene, tip: (f64, f64), along: (f64, f64)) {
    let corner = |side: f64| {
        let (x, y) = (tip.0 - HEAD * along.0, tip.1 - HEAD * along.1);
        Segment::Line(x - side * along.1, y + side * along.0)
    };
    let outline = vec![Segment::Move(tip.0, tip.1), corner(3.3), corner(-3.3), Segment::Close];
    scene.path(outline, Paint::fill(LINE));
}

fn history_mark(scene: &mut Scene, x: f64, y: f64) {
    scene.circle(x, y, HISTORY - 0.5, Paint::both(Colour::WHITE, Stroke::solid(LINE, 1.0)));
    let size = 9.0;
    scene.text(Text::new(x, y + size * font::CAP_HEIGHT / 2.0, size, Anchor::Middle, "H").bold());
}
