//! Layout of a directed graph in layers (after Sugiyama, Tagawa and Toda, 1981).
//!
//! Edges that would run upwards are turned for the time of the layout; nodes go to the layer of the
//! longest way from the start; every edge passes each layer between its ends through a place of its
//! own, one of which holds its label. Orders within layers come from neighbours' mean positions,
//! coordinates from least squares under minimal distances. Lines are vertical inside layers and
//! curved only between them, so they cross neither boxes nor labels.

use crate::graph::pack::{Size, apart};
use crate::scene::Segment;

/// Room a node needs around the middle of its box.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Node {
    /// Size of its box.
    pub size: Size,
    /// Further room to the right of the box.
    pub beside: f64,
}

/// A directed edge between two different nodes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Edge {
    /// Where it starts.
    pub from: usize,
    /// Where it ends.
    pub to: usize,
    /// Size of its label.
    pub label: Size,
    /// Length of the straight piece at its end, for the arrow head.
    pub head: f64,
}

/// A laid-out edge.
#[derive(Clone, Debug, PartialEq)]
pub struct Route {
    /// The line from start to end; the last `head` pixels are straight and vertical.
    pub segments: Vec<Segment>,
    /// Where it ends.
    pub end: (f64, f64),
    /// Whether it enters its end upwards.
    pub upwards: bool,
    /// Upper left corner of the label.
    pub label: (f64, f64),
}

/// A laid-out graph.
#[derive(Clone, Debug, PartialEq)]
pub struct Layout {
    /// Size of the whole.
    pub size: Size,
    /// Upper left corners of the nodes' boxes.
    pub nodes: Vec<(f64, f64)>,
    /// Routes of the edges.
    pub edges: Vec<Route>,
}

/// Free space between things in a layer.
const BESIDE: f64 = 16.0;
/// Space from a line to its label.
const TO_LABEL: f64 = 6.0;
/// Room to the left of a line.
const TO_LINE: f64 = 3.0;
/// Distance of two lines besides the width of the label between them.
pub const LABEL_ROOM: f64 = TO_LINE + TO_LABEL + BESIDE;
/// Least height of the curved piece between layers.
const CURVE: f64 = 16.0;
/// Least distance of two lines at a box.
const PORTS: f64 = 14.0;
/// Smaller sideways moves look like mistakes.
const KINK: f64 = 8.0;
/// Straight piece where a line leaves a box.
const TAIL: f64 = 4.0;
/// Rounds of improvement of orders and positions.
const ROUNDS: usize = 24;

/// Something that takes room in a layer: a node, or the place where an edge passes.
#[derive(Clone, Copy, Debug)]
struct Place {
    what: What,
    layer: usize,
    /// Room to the left and right of its line or middle.
    left: f64,
    right: f64,
    height: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum What {
    Node(usize),
    Pass,
}

struct Builder<'a> {
    nodes: &'a [Node],
    edges: &'a [Edge],
    turned: Vec<bool>,
    places: Vec<Place>,
    /// The places of each edge from top to bottom, nodes included.
    chains: Vec<Vec<usize>>,
    /// Position in its chain of the place that holds the label.
    label_at: Vec<usize>,
    layers: Vec<Vec<usize>>,
    x: Vec<f64>,
}

/// Lays out a graph from a start node downwards.
pub fn layout(nodes: &[Node], edges: &[Edge], start: usize) -> Layout {
    let turned = upward_edges(nodes.len(), edges, start);
    let ranks = ranks(nodes.len(), edges, &turned);
    let mut builder = Builder {
        nodes,
        edges,
        turned,
        places: vec![],
        chains: vec![],
        label_at: vec![],
        layers: vec![],
        x: vec![],
    };
    builder.make_places(&ranks);
    builder.order();
    builder.position();
    builder.finish()
}

/// Edges that close a cycle, seen in depth-first order from the start.
fn upward_edges(count: usize, edges: &[Edge], start: usize) -> Vec<bool> {
    #[derive(Clone, Copy, PartialEq)]
    enum Seen {
        No,
        Open,
        Done,
    }
    let mut turned = vec![false; edges.len()];
    let mut seen = vec![Seen::No; count];
    let order = std::iter::once(start).filter(|&s| s < count).chain(0..count);
    for root in order {
        if seen[root] != Seen::No {
            continue;
        }
        // Each entry of the stack is a node and the edge to look at next.
        let mut stack = vec![(root, 0)];
        seen[root] = Seen::Open;
        while let Some((node, next)) = stack.pop() {
            let Some(k) = (next..edges.len()).find(|&k| edges[k].from == node) else {
                seen[node] = Seen::Done;
                continue;
            };
            stack.push((node, k + 1));
            match seen[edges[k].to] {
                Seen::Open => turned[k] = true,
                Seen::Done => {}
                Seen::No => {
                    seen[edges[k].to] = Seen::Open;
                    stack.push((edges[k].to, 0));
                }
            }
        }
    }
    turned
}

/// Layers of the nodes: two layers per edge, the one between for labels.
fn ranks(count: usize, edges: &[Edge], turned: &[bool]) -> Vec<usize> {
    let mut ranks = vec![0; count];
    // Without cycles, the longest way has fewer edges than there are nodes.
    for _ in 0..count {
        for (edge, &turned) in edges.iter().zip(turned) {
            let (top, bottom) = if turned { (edge.to, edge.from) } else { (edge.from, edge.to) };
            ranks[bottom] = ranks[bottom].max(ranks[top] + 2);
        }
    }
    ranks
}

impl Builder<'_> {
    fn make_places(&mut self, ranks: &[usize]) {
        let layer_count = ranks.iter().max().map_or(0, |r| r + 1);
        self.layers = vec![vec![]; layer_count];
        for (k, node) in self.nodes.iter().enumerate() {
            let half = node.size.0 / 2.0;
            self.add(What::Node(k), ranks[k], half, half + node.beside, node.size.1);
        }
        for (k, edge) in self.edges.iter().enumerate() {
            let (top, bottom) = if self.turned[k] { (edge.to, edge.from) } else { (edge.from, edge.to) };
            let (first, last) = (ranks[top], ranks[bottom]);
            // Labels of long edges stay near the mode the edge leaves.
            let label_rank = if self.turned[k] { last - 1 } else { first + 1 };
            let mut chain = vec![top];
            for rank in first + 1..last {
                let (right, height) = if rank == label_rank {
                    self.label_at.push(chain.len());
                    (TO_LABEL + edge.label.0, edge.label.1)
                } else {
                    (TO_LINE, 0.0)
                };
                chain.push(self.add(What::Pass, rank, TO_LINE, right, height));
            }
            chain.push(bottom);
            self.chains.push(chain);
        }
    }

    fn add(&mut self, what: What, layer: usize, left: f64, right: f64, height: f64) -> usize {
        let id = self.places.len();
        self.places.push(Place { what, layer, left, right, height });
        self.layers[layer].push(id);
        id
    }

    /// Links between neighbouring layers, upper place first.
    fn links(&self) -> Vec<(usize, usize)> {
        self.chains.iter().flat_map(|chain| chain.windows(2).map(|w| (w[0], w[1]))).collect()
    }

    /// Orders each layer by the mean position of neighbours, keeping the order with fewest crossings.
    fn order(&mut self) {
        let links = self.links();
        let mut best = (self.crossings(&links), self.layers.clone());
        for round in 0..ROUNDS {
            let downwards = round % 2 == 0;
            let mut position = self.positions();
            let count = self.layers.len();
            for step in 1..count {
                let layer = if downwards { step } else { count - 1 - step };
                let mean = |id: usize| {
                    let near = links.iter().filter_map(|&(a, b)| match downwards {
                        true if b == id => Some(position[a]),
                        false if a == id => Some(position[b]),
                        _ => None,
                    });
                    let near: Vec<f64> = near.collect();
                    if near.is_empty() { position[id] } else { near.iter().sum::<f64>() / near.len() as f64 }
                };
                let mut keyed: Vec<(f64, usize)> =
                    self.layers[layer].iter().map(|&id| (mean(id), id)).collect();
                keyed.sort_by(|a, b| a.0.total_cmp(&b.0));
                self.layers[layer] = keyed.into_iter().map(|(_, id)| id).collect();
                for (k, &id) in self.layers[layer].iter().enumerate() {
                    position[id] = k as f64;
                }
            }
            let crossings = self.crossings(&links);
            if crossings < best.0 {
                best = (crossings, self.layers.clone());
            }
        }
        self.layers = best.1;
    }

    fn positions(&self) -> Vec<f64> {
        let mut position = vec![0.0; self.places.len()];
        for layer in &self.layers {
            for (k, &id) in layer.iter().enumerate() {
                position[id] = k as f64;
            }
        }
        position
    }

    fn crossings(&self, links: &[(usize, usize)]) -> usize {
        let position = self.positions();
        let crosses = |a: &(usize, usize), b: &(usize, usize)| {
            self.places[a.0].layer == self.places[b.0].layer
                && (position[a.0] - position[b.0]) * (position[a.1] - position[b.1]) < 0.0
        };
        (0..links.len())
            .map(|k| links[k + 1..].iter().filter(|other| crosses(&links[k], other)).count())
            .sum()
    }

    /// Moves every place towards its neighbours as far as the order in its layer allows.
    fn position(&mut self) {
        self.x = vec![0.0; self.places.len()];
        let links = self.links();
        for layer in self.layers.clone() {
            self.settle(&layer, |_| (0.0, 1.0));
        }
        for round in 0..ROUNDS {
            let order: Vec<usize> = match round % 2 {
                0 => (0..self.layers.len()).collect(),
                _ => (0..self.layers.len()).rev().collect(),
            };
            for layer in order {
                let x = self.x.clone();
                let wish = |id: usize| {
                    let near = links.iter().filter_map(|&(a, b)| match id {
                        _ if a == id => Some((x[b], self.weight(a, b))),
                        _ if b == id => Some((x[a], self.weight(a, b))),
                        _ => None,
                    });
                    let (sum, weight) = near.fold((0.0, 0.0), |(s, w), (x, k)| (s + x * k, w + k));
                    if weight > 0.0 { (sum / weight, weight) } else { (x[id], 0.1) }
                };
                let wishes: Vec<(f64, f64)> = self.layers[layer].iter().map(|&id| wish(id)).collect();
                let members = self.layers[layer].clone();
                self.settle(&members, |k| wishes[k]);
            }
        }
        self.straighten();
        self.snap();
        let least =
            (0..self.places.len()).map(|id| self.x[id] - self.places[id].left).fold(f64::INFINITY, f64::min);
        self.x.iter_mut().for_each(|x| *x -= least);
    }

    /// Puts all places an edge passes on one vertical line where their neighbours leave room.
    fn straighten(&mut self) {
        for _ in 0..2 {
            for chain in &self.chains {
                let passes = &chain[1..chain.len() - 1];
                let mean = passes.iter().map(|&id| self.x[id]).sum::<f64>() / passes.len() as f64;
                let rooms = passes.iter().map(|&id| self.room(id));
                let (low, high) = rooms
                    .fold((f64::NEG_INFINITY, f64::INFINITY), |(low, high), (left, right)| {
                        (low.max(left), high.min(right))
                    });
                if low <= high {
                    passes.iter().for_each(|&id| self.x[id] = mean.clamp(low, high));
                }
            }
        }
    }

    /// Moves lines that would meet their boxes with a small kink straight below or above the port.
    fn snap(&mut self) {
        for (k, ports) in self.ports().into_iter().enumerate() {
            let passes = &self.chains[k][1..self.chains[k].len() - 1];
            for port in [ports.0, ports.1] {
                let near = |&id: &usize| {
                    let (left, right) = self.room(id);
                    (self.x[id] - port).abs() < KINK && left <= port && port <= right
                };
                if passes.iter().all(near) {
                    passes.iter().for_each(|&id| self.x[id] = port);
                }
            }
        }
    }

    /// From where to where a place can move without touching its neighbours.
    fn room(&self, id: usize) -> (f64, f64) {
        let layer = &self.layers[self.places[id].layer];
        let at = layer.iter().position(|&other| other == id).unwrap_or(0);
        let apart = |a: usize, b: usize| self.places[a].right + BESIDE + self.places[b].left;
        let before = at.checked_sub(1).map(|k| layer[k]);
        let left = before.map_or(f64::NEG_INFINITY, |other| self.x[other] + apart(other, id));
        let right = layer.get(at + 1).map_or(f64::INFINITY, |&other| self.x[other] - apart(id, other));
        (left, right)
    }

    /// Straight pieces of long edges matter more than short ones.
    fn weight(&self, a: usize, b: usize) -> f64 {
        let passes = [a, b].iter().filter(|&&id| self.places[id].what == What::Pass).count();
        [1.0, 1.0, 6.0][passes]
    }

    /// Gives the places of a layer their wished positions, pushed apart.
    fn settle(&mut self, layer: &[usize], wish: impl Fn(usize) -> (f64, f64)) {
        let (wanted, weights): (Vec<f64>, Vec<f64>) = (0..layer.len()).map(wish).unzip();
        let gap = |w: &[usize]| self.places[w[0]].right + BESIDE + self.places[w[1]].left;
        let gaps: Vec<f64> = layer.windows(2).map(gap).collect();
        for (&id, x) in layer.iter().zip(apart(&wanted, &weights, &gaps)) {
            self.x[id] = x;
        }
    }

    fn finish(&self) -> Layout {
        let ports = self.ports();
        let bands = self.bands(&ports);
        let corner = |k: usize| {
            let (top, bottom) = bands[self.places[k].layer];
            (self.x[k] - self.nodes[k].size.0 / 2.0, (top + bottom - self.nodes[k].size.1) / 2.0)
        };
        let nodes: Vec<(f64, f64)> = (0..self.nodes.len()).map(corner).collect();
        let edges = (0..self.edges.len()).map(|k| self.route(k, ports[k], &bands, &nodes)).collect();
        let right = (0..self.places.len()).map(|id| self.x[id] + self.places[id].right).fold(0.0, f64::max);
        Layout { size: (right, bands.last().map_or(0.0, |b| b.1)), nodes, edges }
    }

    /// Where each edge touches its upper and its lower node.
    fn ports(&self) -> Vec<(f64, f64)> {
        let mut ports = vec![(0.0, 0.0); self.edges.len()];
        for node in 0..self.nodes.len() {
            for above in [false, true] {
                let touches = |chain: &Vec<usize>| if above { *chain.last().unwrap_or(&0) } else { chain[0] };
                let next = |chain: &Vec<usize>| if above { chain[chain.len() - 2] } else { chain[1] };
                let mut ends: Vec<(f64, usize)> = (0..self.edges.len())
                    .filter(|&k| touches(&self.chains[k]) == node)
                    .map(|k| (self.x[next(&self.chains[k])], k))
                    .collect();
                ends.sort_by(|a, b| a.0.total_cmp(&b.0));
                for (x, k) in self.spread(node, &ends) {
                    if above { ports[k].1 = x } else { ports[k].0 = x }
                }
            }
        }
        ports
    }

    /// Straight below or above the next place where possible, inside the box and apart.
    fn spread(&self, node: usize, ends: &[(f64, usize)]) -> Vec<(f64, usize)> {
        let half = (self.nodes[node].size.0 / 2.0 - 10.0).max(2.0);
        let (left, right) = (self.x[node] - half, self.x[node] + half);
        let gap = PORTS.min(2.0 * half / ends.len().max(2).saturating_sub(1) as f64);
        let wanted: Vec<f64> = ends.iter().map(|e| e.0.clamp(left, right)).collect();
        let placed = apart(&wanted, &vec![1.0; ends.len()], &vec![gap; ends.len().saturating_sub(1)]);
        // Each leaves room for those before and after it inside the box.
        let bounded = |(k, x): (usize, &f64)| {
            let after = (ends.len() - 1 - k) as f64;
            x.min(right - after * gap).max(left + k as f64 * gap)
        };
        placed.iter().enumerate().map(bounded).zip(ends).map(|(x, end)| (x, end.1)).collect()
    }

    /// Upper and lower end of every layer.
    fn bands(&self, ports: &[(f64, f64)]) -> Vec<(f64, f64)> {
        let mut bands: Vec<(f64, f64)> = Vec::new();
        let mut top = 0.0;
        for (k, layer) in self.layers.iter().enumerate() {
            let height = layer.iter().map(|&id| self.places[id].height).fold(0.0, f64::max);
            bands.push((top, top + height));
            top += height + self.gap_below(k, ports);
        }
        bands
    }

    /// Space below a layer: straight ends and a curve high enough for the widest sideways move.
    fn gap_below(&self, layer: usize, ports: &[(f64, f64)]) -> f64 {
        let sideways = self.between(layer).map(|(k, w)| {
            let (upper, lower) = self.pair(k, w, ports[k]);
            (upper - lower).abs()
        });
        let (out, into) = self.straight_ends(layer);
        out + into + (0.3 * sideways.fold(0.0, f64::max)).clamp(CURVE, 60.0)
    }

    /// The pieces of edges between a layer and the next.
    fn between(&self, layer: usize) -> impl Iterator<Item = (usize, &[usize])> {
        let pieces =
            self.chains.iter().enumerate().flat_map(|(k, chain)| chain.windows(2).map(move |w| (k, w)));
        pieces.filter(move |(_, w)| self.places[w[0]].layer == layer)
    }

    /// Heights below a layer and above the next in which all lines are straight, for arrow heads.
    fn straight_ends(&self, layer: usize) -> (f64, f64) {
        let is_node = |id: usize| matches!(self.places[id].what, What::Node(_));
        let end = |node: bool, enters: bool, k: usize| match (node, enters) {
            (true, true) => self.edges[k].head + TAIL,
            (true, false) => TAIL,
            (false, _) => 0.0,
        };
        self.between(layer).fold((0.0, 0.0), |(out, into): (f64, f64), (k, w)| {
            (out.max(end(is_node(w[0]), self.turned[k], k)), into.max(end(is_node(w[1]), !self.turned[k], k)))
        })
    }

    /// Horizontal positions of an edge at two neighbouring places of its chain.
    fn pair(&self, edge: usize, w: &[usize], ports: (f64, f64)) -> (f64, f64) {
        let chain = &self.chains[edge];
        let upper = if w[0] == chain[0] { ports.0 } else { self.x[w[0]] };
        let lower = if Some(&w[1]) == chain.last() { ports.1 } else { self.x[w[1]] };
        (upper, lower)
    }

    fn route(&self, k: usize, ports: (f64, f64), bands: &[(f64, f64)], nodes: &[(f64, f64)]) -> Route {
        let chain = &self.chains[k];
        let (first, last) = (chain[0], chain[chain.len() - 1]);
        let start = (ports.0, nodes[first].1 + self.nodes[first].size.1);
        let end = (ports.1, nodes[last].1);
        let mut line = Line { segments: vec![Segment::Move(start.0, start.1)], x: start.0 };
        for w in chain.windows(2) {
            let layer = self.places[w[0]].layer;
            let (_, lower) = self.pair(k, w, ports);
            let (out, into) = self.straight_ends(layer);
            let (from, to) = (bands[layer].1 + out, bands[layer + 1].0 - into);
            line.curve(from, lower, to);
        }
        line.segments.push(Segment::Line(end.0, end.1));
        let label_place = chain[self.label_at[k]];
        let (top, bottom) = bands[self.places[label_place].layer];
        let label = (self.x[label_place] + TO_LABEL, (top + bottom - self.edges[k].label.1) / 2.0);
        if self.turned[k] {
            Route { segments: reversed(&line.segments), end: start, upwards: true, label }
        } else {
            Route { segments: line.segments, end, upwards: false, label }
        }
    }
}

/// A line on its way down.
struct Line {
    segments: Vec<Segment>,
    x: f64,
}

impl Line {
    /// Straight down to `from`, then to `x` at height `to` with vertical tangents.
    fn curve(&mut self, from: f64, x: f64, to: f64) {
        self.segments.push(Segment::Line(self.x, from));
        if (x - self.x).abs() < 0.01 {
            self.segments.push(Segment::Line(x, to));
        } else {
            let middle = (from + to) / 2.0;
            self.segments.push(Segment::Cubic(self.x, middle, x, middle, x, to));
        }
        self.x = x;
    }
}

/// The same path from its end to its start.
fn reversed(segments: &[Segment]) -> Vec<Segment> {
    let end = |s: &Segment| match *s {
        Segment::Move(x, y) | Segment::Line(x, y) | Segment::Cubic(_, _, _, _, x, y) => (x, y),
        Segment::Close => (0.0, 0.0),
    };
    let Some(last) = segments.last().map(end) else { return vec![] };
    let mut out = vec![Segment::Move(last.0, last.1)];
    for w in segments.windows(2).rev() {
        let (x, y) = end(&w[0]);
        out.push(match w[1] {
            Segment::Cubic(ax, ay, bx, by, _, _) => Segment::Cubic(bx, by, ax, ay, x, y),
            _ => Segment::Line(x, y),
        });
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::Rect;
    use proptest::prelude::*;

    const BOX: Node = Node { size: (80.0, 40.0), beside: 0.0 };

    fn edge(from: usize, to: usize) -> Edge {
        Edge { from, to, label: (60.0, 14.0), head: 8.0 }
    }

    /// Points along a route, close together.
    fn trace(segments: &[Segment]) -> Vec<(f64, f64)> {
        let mut points: Vec<(f64, f64)> = vec![];
        for segment in segments {
            let from = points.last().copied().unwrap_or_default();
            match *segment {
                Segment::Move(x, y) => points.push((x, y)),
                Segment::Line(x, y) => points.extend(
                    (1..=20)
                        .map(|k| k as f64 / 20.0)
                        .map(|s| (from.0 + s * (x - from.0), from.1 + s * (y - from.1))),
                ),
                Segment::Cubic(ax, ay, bx, by, x, y) => {
                    points.extend((1..=40).map(|k| k as f64 / 40.0).map(|s| {
                        let (a, b, c, d) = (
                            (1.0 - s).powi(3),
                            3.0 * s * (1.0 - s).powi(2),
                            3.0 * s * s * (1.0 - s),
                            s.powi(3),
                        );
                        (a * from.0 + b * ax + c * bx + d * x, a * from.1 + b * ay + c * by + d * y)
                    }))
                }
                Segment::Close => {}
            }
        }
        points
    }

    fn check(nodes: &[Node], edges: &[Edge]) {
        let found = layout(nodes, edges, 0);
        let boxes: Vec<Rect> =
            found.nodes.iter().zip(nodes).map(|(p, n)| Rect::new(p.0, p.1, n.size.0, n.size.1)).collect();
        let labels: Vec<Rect> = found
            .edges
            .iter()
            .zip(edges)
            .map(|(r, e)| Rect::new(r.label.0, r.label.1, e.label.0, e.label.1))
            .collect();
        let all: Vec<&Rect> = boxes.iter().chain(&labels).collect();
        for (k, a) in all.iter().enumerate() {
            assert!(
                a.x >= -1e-6
                    && a.y >= -1e-6
                    && a.right() <= found.size.0 + 1e-6
                    && a.bottom() <= found.size.1 + 1e-6
            );
            assert!(all[k + 1..].iter().all(|b| !a.overlaps(b)), "{all:?}");
        }
        for (route, e) in found.edges.iter().zip(edges) {
            let points = trace(&route.segments);
            let inside = |r: &Rect, p: &(f64, f64)| Rect::new(p.0, p.1, 0.0, 0.0).overlaps(&r.grown(-0.5));
            assert!(points.iter().all(|p| !all.iter().any(|r| inside(r, p))), "a line runs through a box");
            let touches = |r: &Rect, p: &(f64, f64)| Rect::new(p.0, p.1, 0.0, 0.0).overlaps(&r.grown(0.5));
            assert!(touches(&boxes[e.from], &points[0]) && touches(&boxes[e.to], points.last().unwrap()));
        }
    }

    #[test]
    fn two_modes_with_arrows_both_ways() {
        check(&[BOX; 2], &[edge(0, 1), edge(1, 0)]);
    }

    #[test]
    fn a_lone_node_and_no_node() {
        assert_eq!(layout(&[BOX], &[], 0).nodes, [(0.0, 0.0)]);
        assert!(layout(&[], &[], 0).nodes.is_empty());
    }

    proptest! {
        #[test]
        fn nothing_overlaps_in_any_graph(
            pairs in proptest::collection::vec((0usize..7, 0usize..7), 0..16),
            sizes in proptest::collection::vec((30.0..160.0f64, 24.0..90.0f64), 7),
        ) {
            let nodes: Vec<Node> = sizes.iter().map(|&size| Node { size, beside: 10.0 }).collect();
            let edges: Vec<Edge> = pairs.iter().filter(|(a, b)| a != b).map(|&(a, b)| edge(a, b)).collect();
            check(&nodes, &edges);
        }
    }
}
