//! Pictures as SVG text: masks (layers × groups), the convergence of a search, scores by depth and length, lines
//! over an axis, and what a mask saves.

mod convergence;
mod lines;
mod masks;
mod niah_grid;
mod savings;

pub use convergence::{Curve, convergence_svg};
pub use lines::lines_svg;
pub use masks::masks_svg;
pub use niah_grid::niah_grid_svg;
pub use savings::{Saving, savings_svg};

use plotters::coord::Shift;
use plotters::prelude::{DrawingArea, IntoFont, SVGBackend, Text, TextStyle};
use plotters::style::RGBColor;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// Full attention, and the line of the best score.
const DARK: RGBColor = RGBColor(24, 78, 119);
/// Sliding window.
const LIGHT: RGBColor = RGBColor(217, 226, 236);
/// Single trials.
const TEAL: RGBColor = RGBColor(0, 137, 123);
/// Levels to compare with.
const ORANGE: RGBColor = RGBColor(239, 108, 0);
/// Text and axes.
const INK: RGBColor = RGBColor(40, 40, 40);

/// What is drawn on, in pixels.
type Canvas<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// Writes a text of some size and colour: at its height in the middle, at the side that is given.
fn write(
    area: &Canvas<'_>,
    text: &str,
    at: (i32, i32),
    (size, side, colour): (i32, HPos, RGBColor),
) -> Result<(), crate::Error> {
    let style = TextStyle::from(("sans-serif", size).into_font())
        .color(&colour)
        .pos(Pos::new(side, VPos::Center));
    area.draw(&Text::new(text, at, style))
        .map_err(drawing_error)
}

/// What plotters says, as our error.
fn drawing_error(error: impl std::fmt::Display) -> crate::Error {
    crate::Error::Drawing(error.to_string())
}
