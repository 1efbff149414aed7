//! Masks as grids of squares, one under another, so that methods can be compared at a glance.

use plotters::prelude::{IntoDrawingArea, Rectangle, SVGBackend, ShapeStyle, WHITE};
use plotters::style::Color;
use plotters::style::text_anchor::HPos;

use super::{Canvas, DARK, INK, LIGHT, drawing_error, write};
use crate::{Error, Selection};

const CELL: i32 = 18;
const GAP: i32 = 2;
const LEFT: i32 = 70;
const RIGHT: i32 = 20;
const TITLE: i32 = 30;
const AXIS: i32 = 24;
const LEGEND: i32 = 30;

/// Draws each named mask: a column a layer (0 = nearest the input, at the left), a row a KV group,
/// dark = full attention, light = sliding window.
///
/// # Errors
///
/// [`Error::Shape`] when there is no mask or when the grids differ in layers or groups;
/// [`Error::Drawing`] when the drawing library fails.
pub fn masks_svg(masks: &[(&str, &Selection)]) -> Result<String, Error> {
    let Some((_, first)) = masks.first() else {
        return Err(Error::Shape {
            what: "masks_svg",
            expected: "at least one mask".into(),
            got: "none".into(),
        });
    };
    let grid = *first.grid();
    if let Some((name, other)) = masks
        .iter()
        .find(|(_, s)| (s.grid().layers, s.grid().groups) != (grid.layers, grid.groups))
    {
        return Err(Error::Shape {
            what: "masks_svg",
            expected: format!(
                "{} layers of {} groups in every mask",
                grid.layers, grid.groups
            ),
            got: format!(
                "{} layers of {} groups in {name:?}",
                other.grid().layers,
                other.grid().groups
            ),
        });
    }
    let block = TITLE + grid.groups as i32 * CELL + AXIS;
    let width = (LEFT + grid.layers as i32 * CELL + RIGHT).max(420);
    let height = LEGEND + masks.len() as i32 * block + 6;
    let mut svg = String::new();
    {
        let area =
            SVGBackend::with_string(&mut svg, (width as u32, height as u32)).into_drawing_area();
        area.fill(&WHITE).map_err(drawing_error)?;
        draw_legend(&area)?;
        for (index, (name, selection)) in masks.iter().enumerate() {
            draw_mask(&area, LEGEND + index as i32 * block, name, selection)?;
        }
        area.present().map_err(drawing_error)?;
    }
    Ok(svg)
}

fn square(area: &Canvas<'_>, x: i32, y: i32, style: ShapeStyle) -> Result<(), Error> {
    area.draw(&Rectangle::new(
        [(x, y), (x + CELL - GAP, y + CELL - GAP)],
        style,
    ))
    .map_err(drawing_error)
}

fn draw_legend(area: &Canvas<'_>) -> Result<(), Error> {
    square(area, LEFT, 8, DARK.filled())?;
    square(area, LEFT + 130, 8, LIGHT.filled())?;
    for (x, word) in [
        (LEFT + 24, "full attention"),
        (LEFT + 154, "sliding window"),
    ] {
        write(area, word, (x, 17), (13, HPos::Left, INK))?;
    }
    Ok(())
}

fn draw_mask(area: &Canvas<'_>, top: i32, name: &str, selection: &Selection) -> Result<(), Error> {
    let grid = selection.grid();
    let title = format!(
        "{name}: {} of {} KV groups are windows",
        selection.mask().count_ones(),
        grid.dim()
    );
    let at = (LEFT, top + TITLE / 2 + 2);
    write(area, &title, at, (14, HPos::Left, INK))?;
    let right = (11, HPos::Right, INK);
    let rows = grid.rows(selection.mask());
    let cells_top = top + TITLE;
    for group in 0..grid.groups {
        let y = cells_top + group as i32 * CELL;
        let label = format!("group {group}");
        write(area, &label, (LEFT - 8, y + CELL / 2), right)?;
        for (layer, row) in rows.iter().enumerate() {
            let colour = if row[group] { LIGHT } else { DARK };
            square(area, LEFT + layer as i32 * CELL, y, colour.filled())?;
        }
    }
    let y = cells_top + grid.groups as i32 * CELL + 9;
    for layer in (0..grid.layers).step_by(5) {
        let x = LEFT + layer as i32 * CELL + CELL / 2;
        write(area, &layer.to_string(), (x, y), (11, HPos::Center, INK))?;
    }
    write(area, "layer", (LEFT - 8, y), right)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Grid, Provenance};

    fn selection(layers: usize, bits: &str) -> Selection {
        let grid = Grid {
            layers,
            groups: 2,
            query_heads: 4,
            window: 8,
            sinks: 0,
        };
        Selection::new(grid, bits.parse().unwrap(), Provenance::default()).unwrap()
    }

    #[test]
    fn one_square_a_group_in_the_colour_of_its_bit() {
        let svg = masks_svg(&[
            ("a", &selection(3, "101000")),
            ("b", &selection(3, "111111")),
        ])
        .unwrap();
        // Eight light squares of the masks and one of the legend; four dark ones and one.
        assert_eq!(svg.matches("fill=\"#D9E2EC\"").count(), 2 + 6 + 1);
        assert_eq!(svg.matches("fill=\"#184E77\"").count(), 4 + 1);
        assert!(svg.contains("2 of 6 KV groups are windows"));
    }

    #[test]
    fn names_are_escaped() {
        let svg = masks_svg(&[("a<b & c", &selection(1, "10"))]).unwrap();
        assert!(svg.contains("a&lt;b &amp; c"));
    }

    #[test]
    fn no_mask_and_different_grids_are_errors() {
        assert!(masks_svg(&[]).is_err());
        let error =
            masks_svg(&[("a", &selection(3, "101000")), ("b", &selection(1, "10"))]).unwrap_err();
        assert!(
            error.to_string().contains("1 layers of 2 groups in \"b\""),
            "{error}"
        );
    }
}
