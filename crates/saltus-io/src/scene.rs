//! What a picture is made of, before it becomes a file.
//!
//! Plots and graphs are laid out into a [`Scene`]: a list of shapes and texts in pixels, y
//! downwards. The SVG and PNG writers draw the same scene, so both files show the same picture.

use crate::font::{self, Weight};

/// A colour, red, green and blue in one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Colour(pub u32);

impl Colour {
    /// Page background.
    pub const WHITE: Colour = Colour(0xffffff);
    /// Text.
    pub const INK: Colour = Colour(0x222222);
    /// Axes and frames.
    pub const FRAME: Colour = Colour(0x666666);
    /// Grid lines.
    pub const GRID: Colour = Colour(0xe6e6e6);

    /// Red, green and blue from 0 to 255.
    pub fn rgb(self) -> [u8; 3] {
        [(self.0 >> 16) as u8, (self.0 >> 8) as u8, self.0 as u8]
    }

    /// Mixed with white: 0 leaves the colour, 1 gives white.
    pub fn lighter(self, share: f64) -> Colour {
        self.mixed(255.0, share)
    }

    /// Mixed with black: 0 leaves the colour, 1 gives black.
    pub fn darker(self, share: f64) -> Colour {
        self.mixed(0.0, share)
    }

    fn mixed(self, with: f64, share: f64) -> Colour {
        let part = |c: u8| (f64::from(c) + (with - f64::from(c)) * share).round() as u32;
        let [r, g, b] = self.rgb();
        Colour(part(r) << 16 | part(g) << 8 | part(b))
    }
}

/// Colours of curves, told apart by colour-blind readers and on paper (Okabe and Ito, 2008).
pub const CURVES: [Colour; 7] = [
    Colour(0x0072b2),
    Colour(0xd55e00),
    Colour(0x009e73),
    Colour(0xcc79a7),
    Colour(0xe69f00),
    Colour(0x56b4e9),
    Colour(0x444444),
];

/// Colours of areas that carry dark text (after the light scheme of Paul Tol).
pub const AREAS: [Colour; 9] = [
    Colour(0x99ddff),
    Colour(0xeedd88),
    Colour(0xffaabb),
    Colour(0x9ad9c3),
    Colour(0xf2a98f),
    Colour(0xa7c4ea),
    Colour(0xcfd970),
    Colour(0xd9c2e9),
    Colour(0xdddddd),
];

/// A rectangle.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rect {
    /// Left edge.
    pub x: f64,
    /// Upper edge.
    pub y: f64,
    /// Width.
    pub w: f64,
    /// Height.
    pub h: f64,
}

impl Rect {
    /// A rectangle from its upper left corner and size.
    pub fn new(x: f64, y: f64, w: f64, h: f64) -> Self {
        Self { x, y, w, h }
    }

    /// Right edge.
    pub fn right(&self) -> f64 {
        self.x + self.w
    }

    /// Lower edge.
    pub fn bottom(&self) -> f64 {
        self.y + self.h
    }

    /// Whether two rectangles share more than a border.
    pub fn overlaps(&self, other: &Rect) -> bool {
        self.x < other.right() && other.x < self.right() && self.y < other.bottom() && other.y < self.bottom()
    }

    /// The rectangle with every edge moved outwards.
    pub fn grown(&self, by: f64) -> Rect {
        Rect::new(self.x - by, self.y - by, self.w + 2.0 * by, self.h + 2.0 * by)
    }
}

/// Gaps in a line.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Dash {
    /// No gaps.
    #[default]
    Solid,
    /// Lengths of dash and gap in pixels.
    Gaps(f64, f64),
}

/// How a line is drawn; joins and ends are round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stroke {
    /// Its colour.
    pub colour: Colour,
    /// Its width in pixels.
    pub width: f64,
    /// Its gaps.
    pub dash: Dash,
}

impl Stroke {
    /// A line without gaps.
    pub fn solid(colour: Colour, width: f64) -> Self {
        Self { colour, width, dash: Dash::Solid }
    }

    /// A line with gaps.
    pub fn dashed(colour: Colour, width: f64, dash: f64, gap: f64) -> Self {
        Self { colour, width, dash: Dash::Gaps(dash, gap) }
    }
}

/// Inside and border of a shape.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Paint {
    /// Colour of the inside.
    pub fill: Option<Colour>,
    /// The border.
    pub stroke: Option<Stroke>,
}

impl Paint {
    /// Inside only.
    pub fn fill(colour: Colour) -> Self {
        Self { fill: Some(colour), stroke: None }
    }

    /// Border only.
    pub fn stroke(stroke: Stroke) -> Self {
        Self { fill: None, stroke: Some(stroke) }
    }

    /// Both.
    pub fn both(fill: Colour, stroke: Stroke) -> Self {
        Self { fill: Some(fill), stroke: Some(stroke) }
    }
}

/// A piece of a path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Segment {
    /// Starts a new contour.
    Move(f64, f64),
    /// A straight line.
    Line(f64, f64),
    /// A cubic curve: two control points and the end.
    Cubic(f64, f64, f64, f64, f64, f64),
    /// Back to the start of the contour.
    Close,
}

/// Which point of a text lies at its position.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Anchor {
    /// Its left end.
    #[default]
    Start,
    /// Its middle.
    Middle,
    /// Its right end.
    End,
}

/// A line of text.
#[derive(Clone, Debug, PartialEq)]
pub struct Text {
    /// Horizontal position.
    pub x: f64,
    /// Vertical position of the baseline.
    pub y: f64,
    /// What it says.
    pub text: String,
    /// Font size in pixels.
    pub size: f64,
    /// Thickness of its letters.
    pub weight: Weight,
    /// Its colour.
    pub colour: Colour,
    /// What lies at the position.
    pub anchor: Anchor,
    /// Whether it runs upwards (turned by 90 degrees against the clock about its position).
    pub upwards: bool,
}

impl Text {
    /// Dark text of ordinary weight.
    pub fn new(x: f64, y: f64, size: f64, anchor: Anchor, text: impl Into<String>) -> Self {
        let text = text.into();
        Self { x, y, text, size, weight: Weight::Regular, colour: Colour::INK, anchor, upwards: false }
    }

    /// The same in another colour.
    pub fn colour(mut self, colour: Colour) -> Self {
        self.colour = colour;
        self
    }

    /// The same in bold.
    pub fn bold(mut self) -> Self {
        self.weight = Weight::Bold;
        self
    }

    /// The same running upwards.
    pub fn upwards(mut self) -> Self {
        self.upwards = true;
        self
    }

    /// Width of the line of text.
    pub fn width(&self) -> f64 {
        font::width(&self.text, self.size, self.weight)
    }

    /// How far its left end lies before its position, along the text.
    pub fn lead(&self) -> f64 {
        match self.anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => self.width() / 2.0,
            Anchor::End => self.width(),
        }
    }

    /// The area it covers.
    pub fn area(&self) -> Rect {
        let (along, ascent) = (self.width(), font::ASCENT * self.size);
        let height = (font::ASCENT + font::DESCENT) * self.size;
        if self.upwards {
            Rect::new(self.x - ascent, self.y + self.lead() - along, height, along)
        } else {
            Rect::new(self.x - self.lead(), self.y - ascent, along, height)
        }
    }
}

/// Something drawn.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// A rectangle with rounded corners.
    Rect {
        /// Where it is.
        area: Rect,
        /// Radius of its corners.
        radius: f64,
        /// How it looks.
        paint: Paint,
    },
    /// A circle.
    Circle {
        /// Centre.
        x: f64,
        /// Centre.
        y: f64,
        /// Radius.
        r: f64,
        /// How it looks.
        paint: Paint,
    },
    /// Lines and curves.
    Path {
        /// Its pieces.
        segments: Vec<Segment>,
        /// How it looks.
        paint: Paint,
    },
    /// A line of text.
    Text(Text),
}

impl Item {
    /// Moves it right and down.
    fn shift(&mut self, dx: f64, dy: f64) {
        match self {
            Item::Rect { area, .. } => (area.x, area.y) = (area.x + dx, area.y + dy),
            Item::Circle { x, y, .. } | Item::Text(Text { x, y, .. }) => (*x, *y) = (*x + dx, *y + dy),
            Item::Path { segments, .. } => segments.iter_mut().for_each(|s| *s = s.shifted(dx, dy)),
        }
    }
}

impl Segment {
    fn shifted(self, dx: f64, dy: f64) -> Segment {
        match self {
            Segment::Move(x, y) => Segment::Move(x + dx, y + dy),
            Segment::Line(x, y) => Segment::Line(x + dx, y + dy),
            Segment::Cubic(ax, ay, bx, by, x, y) => {
                Segment::Cubic(ax + dx, ay + dy, bx + dx, by + dy, x + dx, y + dy)
            }
            Segment::Close => Segment::Close,
        }
    }
}

/// A picture.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scene {
    /// Width in pixels.
    pub width: f64,
    /// Height in pixels.
    pub height: f64,
    /// What it shows, for readers that cannot see it.
    pub title: String,
    /// From back to front.
    pub items: Vec<Item>,
}

impl Scene {
    /// Adds a rectangle.
    pub fn rect(&mut self, area: Rect, radius: f64, paint: Paint) {
        self.items.push(Item::Rect { area, radius, paint });
    }

    /// Adds a circle.
    pub fn circle(&mut self, x: f64, y: f64, r: f64, paint: Paint) {
        self.items.push(Item::Circle { x, y, r, paint });
    }

    /// Adds a path.
    pub fn path(&mut self, segments: Vec<Segment>, paint: Paint) {
        self.items.push(Item::Path { segments, paint });
    }

    /// Adds a straight line.
    pub fn line(&mut self, from: (f64, f64), to: (f64, f64), stroke: Stroke) {
        self.path(polyline(&[from, to]), Paint::stroke(stroke));
    }

    /// Adds a text; an empty one is left out.
    pub fn text(&mut self, text: Text) {
        if !text.text.is_empty() {
            self.items.push(Item::Text(text));
        }
    }

    /// Adds all items of another scene, moved right and down.
    pub fn place(&mut self, other: Scene, dx: f64, dy: f64) {
        self.items.extend(other.items.into_iter().map(|mut item| {
            item.shift(dx, dy);
            item
        }));
    }

    /// All texts, for checks of the layout.
    pub fn texts(&self) -> impl Iterator<Item = &Text> {
        self.items.iter().filter_map(|item| if let Item::Text(text) = item { Some(text) } else { None })
    }
}

/// The path through points.
pub fn polyline(points: &[(f64, f64)]) -> Vec<Segment> {
    let step =
        |(k, &(x, y)): (usize, &(f64, f64))| if k == 0 { Segment::Move(x, y) } else { Segment::Line(x, y) };
    points.iter().enumerate().map(step).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_mix_towards_white_and_black() {
        assert_eq!(Colour(0x804020).lighter(1.0), Colour::WHITE);
        assert_eq!(Colour(0x804020).darker(1.0), Colour(0));
        assert_eq!(Colour(0x804020).lighter(0.0), Colour(0x804020));
    }

    #[test]
    fn the_area_of_a_text_follows_its_anchor_and_direction() {
        let level = Text::new(100.0, 50.0, 10.0, Anchor::End, "label").area();
        assert!((level.right() - 100.0).abs() < 1e-9 && level.y < 50.0 && level.bottom() > 50.0);
        let turned = Text::new(100.0, 50.0, 10.0, Anchor::Middle, "label").upwards().area();
        assert!((turned.y + turned.h / 2.0 - 50.0).abs() < 1e-9);
        assert!(turned.x < 100.0 && turned.right() > 100.0 && turned.h > turned.w);
    }
}
