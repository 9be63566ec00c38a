//! A scene as a PNG image.
//!
//! Shapes are rasterised by `tiny-skia` and letters are drawn from the outlines of the bundled font,
//! so the image does not depend on what is installed.

use crate::font::{self, Outline};
use crate::scene::{Colour, Dash, Item, Paint as Look, Rect, Scene, Segment, Stroke as Line, Text};
use tiny_skia::{
    FillRule, LineCap, LineJoin, Paint, Path, PathBuilder, Pixmap, Stroke, StrokeDash, Transform,
};

/// Why a picture could not become an image.
#[derive(Debug, thiserror::Error)]
pub enum PngError {
    /// No pixels, or more than memory can hold.
    #[error("an image of {width} x {height} pixels cannot be made")]
    Size {
        /// Width asked for.
        width: f64,
        /// Height asked for.
        height: f64,
    },
    /// The encoder failed.
    #[error("the image could not be encoded: {0}")]
    Encoding(String),
}

/// Images are made up to this many pixels wide and high.
const LARGEST: f64 = 20_000.0;

/// Draws a scene, `scale` image pixels for each of its pixels.
///
/// ```
/// use saltus_io::scene::Scene;
/// let scene = Scene { width: 20.0, height: 10.0, ..Scene::default() };
/// let png = saltus_io::png::write(&scene, 2.0)?;
/// assert_eq!(&png[1..4], b"PNG");
/// # Ok::<(), saltus_io::png::PngError>(())
/// ```
pub fn write(scene: &Scene, scale: f64) -> Result<Vec<u8>, PngError> {
    let (width, height) = ((scene.width * scale).ceil(), (scene.height * scale).ceil());
    let too_large = PngError::Size { width, height };
    if !(width >= 1.0 && height >= 1.0 && width <= LARGEST && height <= LARGEST) {
        return Err(too_large);
    }
    let mut image = Pixmap::new(width as u32, height as u32).ok_or(too_large)?;
    image.fill(tiny_skia::Color::WHITE);
    let mut canvas = Canvas { image, transform: Transform::from_scale(scale as f32, scale as f32) };
    scene.items.iter().for_each(|item| canvas.item(item));
    canvas.image.encode_png().map_err(|e| PngError::Encoding(e.to_string()))
}

struct Canvas {
    image: Pixmap,
    transform: Transform,
}

fn paint(colour: Colour) -> Paint<'static> {
    let mut paint = Paint { anti_alias: true, ..Paint::default() };
    let [r, g, b] = colour.rgb();
    paint.set_color_rgba8(r, g, b, 255);
    paint
}

fn stroke(line: &Line) -> Stroke {
    let dash = match line.dash {
        Dash::Solid => None,
        Dash::Gaps(on, off) => StrokeDash::new(vec![on as f32, off as f32], 0.0),
    };
    let (line_cap, line_join) = (LineCap::Round, LineJoin::Round);
    Stroke { width: line.width as f32, line_cap, line_join, dash, ..Stroke::default() }
}

impl Canvas {
    fn item(&mut self, item: &Item) {
        match item {
            Item::Rect { area, radius, paint } => self.shape(rounded(area, *radius), paint),
            Item::Circle { x, y, r, paint } => {
                self.shape(PathBuilder::from_circle(*x as f32, *y as f32, *r as f32), paint);
            }
            Item::Path { segments, paint } => self.shape(path(segments), paint),
            Item::Text(text) => self.text(text),
        }
    }

    fn shape(&mut self, path: Option<Path>, look: &Look) {
        let Some(path) = path else { return };
        if let Some(colour) = look.fill {
            self.image.fill_path(&path, &paint(colour), FillRule::Winding, self.transform, None);
        }
        if let Some(line) = &look.stroke {
            self.image.stroke_path(&path, &paint(line.colour), &stroke(line), self.transform, None);
        }
    }

    fn text(&mut self, text: &Text) {
        let mut letters = Letters(PathBuilder::new());
        font::outline(&text.text, text.size, text.weight, &mut letters);
        let Some(path) = letters.0.finish() else { return };
        let mut place = self.transform.pre_translate(text.x as f32, text.y as f32);
        if text.upwards {
            place = place.pre_rotate(-90.0);
        }
        let place = place.pre_translate(-text.lead() as f32, 0.0);
        self.image.fill_path(&path, &paint(text.colour), FillRule::Winding, place, None);
    }
}

fn path(segments: &[Segment]) -> Option<Path> {
    let mut builder = PathBuilder::new();
    for segment in segments {
        match *segment {
            Segment::Move(x, y) => builder.move_to(x as f32, y as f32),
            Segment::Line(x, y) => builder.line_to(x as f32, y as f32),
            Segment::Cubic(ax, ay, bx, by, x, y) => {
                builder.cubic_to(ax as f32, ay as f32, bx as f32, by as f32, x as f32, y as f32);
            }
            Segment::Close => builder.close(),
        }
    }
    builder.finish()
}

/// A rectangle with quarter circles at its corners.
fn rounded(area: &Rect, radius: f64) -> Option<Path> {
    let Rect { x, y, w, h } = *area;
    let r = radius.min(w / 2.0).min(h / 2.0);
    if r <= 0.0 {
        let plain = tiny_skia::Rect::from_xywh(x as f32, y as f32, w as f32, h as f32)?;
        return Some(PathBuilder::from_rect(plain));
    }
    // Control points of a cubic that follows a quarter circle.
    let k = r * (1.0 - 0.552_284_75);
    let (right, bottom) = (x + w, y + h);
    path(&[
        Segment::Move(x + r, y),
        Segment::Line(right - r, y),
        Segment::Cubic(right - k, y, right, y + k, right, y + r),
        Segment::Line(right, bottom - r),
        Segment::Cubic(right, bottom - k, right - k, bottom, right - r, bottom),
        Segment::Line(x + r, bottom),
        Segment::Cubic(x + k, bottom, x, bottom - k, x, bottom - r),
        Segment::Line(x, y + r),
        Segment::Cubic(x, y + k, x + k, y, x + r, y),
        Segment::Close,
    ])
}

struct Letters(PathBuilder);

impl Outline for Letters {
    fn move_to(&mut self, x: f64, y: f64) {
        self.0.move_to(x as f32, y as f32);
    }

    fn line_to(&mut self, x: f64, y: f64) {
        self.0.line_to(x as f32, y as f32);
    }

    fn quad_to(&mut self, cx: f64, cy: f64, x: f64, y: f64) {
        self.0.quad_to(cx as f32, cy as f32, x as f32, y as f32);
    }

    fn close(&mut self) {
        self.0.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::Anchor;

    fn dark_pixels(scene: &Scene) -> usize {
        let png = write(scene, 1.0).expect("image");
        let image = Pixmap::decode_png(&png).expect("decodes");
        image.pixels().iter().filter(|p| p.red() < 128).count()
    }

    #[test]
    fn text_is_drawn_without_installed_fonts() {
        let mut scene = Scene { width: 60.0, height: 60.0, ..Scene::default() };
        assert_eq!(dark_pixels(&scene), 0);
        scene.text(Text::new(30.0, 30.0, 16.0, Anchor::Middle, "− 漢 x"));
        let level = dark_pixels(&scene);
        assert!(level > 40, "{level}");
    }

    #[test]
    fn impossible_sizes_are_refused() {
        let scene = Scene { width: 0.0, height: 10.0, ..Scene::default() };
        assert!(matches!(write(&scene, 1.0), Err(PngError::Size { .. })));
        let scene = Scene { width: 1e9, height: 10.0, ..Scene::default() };
        assert!(matches!(write(&scene, 1.0), Err(PngError::Size { .. })));
    }

    #[test]
    fn numbers_that_are_not_finite_do_no_harm() {
        let mut scene = Scene { width: 20.0, height: 20.0, ..Scene::default() };
        scene.rect(Rect::new(f64::NAN, 0.0, 5.0, 5.0), 1.0, Look::fill(Colour::INK));
        scene.line((0.0, 0.0), (f64::INFINITY, 3.0), Line::solid(Colour::INK, 1.0));
        assert!(write(&scene, 1.0).is_ok());
    }
}
