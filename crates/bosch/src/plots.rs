//! Pictures as SVG text: masks (layers × groups), the convergence of a search, and scores by depth and length.

mod convergence;
mod masks;
mod niah_grid;

pub use convergence::{Curve, convergence_svg};
pub use masks::masks_svg;
pub use niah_grid::niah_grid_svg;

use plotters::style::RGBColor;

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

/// What plotters says, as our error.
fn drawing_error(error: impl std::fmt::Display) -> crate::Error {
    crate::Error::Drawing(error.to_string())
}
