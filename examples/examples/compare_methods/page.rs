//! What is left behind: one JSON file, a Markdown table, and a page with the pictures.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use bosch::plots::{lines_svg, masks_svg};
use bosch::{Grid, Provenance, Selection, Turnover, bootstrap_interval, jaccard_distance};
use serde_json::{Value, json};

use crate::Fault;
use crate::cells::{Cell, Cells};

/// Writes results.json, table.md and report.html.
pub fn write(
    output: &Path,
    settings: &Value,
    grid: &Grid,
    cells: &Cells,
    (ratios, names): (&[f64], &[String]),
) -> Result<(), Fault> {
    let of_ratio = |ratio: f64| names.iter().filter_map(move |name| cells.get(ratio, name));
    let all: Vec<&Cell> = ratios.iter().flat_map(|&ratio| of_ratio(ratio)).collect();
    let results = json!({ "settings": settings, "cells": all });
    fs::write(output.join("results.json"), results.to_string())?;

    let mut markdown = String::new();
    let mut page = String::from(HEAD);
    write!(
        page,
        "<h1>Which heads can slide</h1><pre>{settings:#}</pre>"
    )?;
    page += &lines(ratios, names, cells)?;
    for &ratio in ratios {
        let cells: Vec<&Cell> = of_ratio(ratio).collect();
        let table = table(&cells)?;
        write!(markdown, "### ρ = {ratio}\n\n{table}\n")?;
        write!(page, "<h2>ρ = {ratio}</h2>{}", html(&table))?;
        page += &masks(grid, &cells)?;
        write!(
            page,
            "<h3>Jaccard distance of the choices</h3>{}",
            html(&distances(&cells)?)
        )?;
    }
    let turnover = turnovers(ratios, names, cells)?;
    write!(markdown, "### Turnover between ratios\n\n{turnover}\n")?;
    write!(page, "<h2>Turnover between ratios</h2>{}", html(&turnover))?;
    fs::write(output.join("table.md"), markdown)?;
    fs::write(output.join("report.html"), page + "</body></html>\n")?;
    Ok(())
}

const HEAD: &str = "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>bosch</title><style>\
    body{font:15px sans-serif;margin:2em auto;max-width:70em}table{border-collapse:collapse}\
    td,th{padding:.2em .6em;border-bottom:1px solid #ddd;text-align:right}\
    td:first-child,th:first-child{text-align:left}</style></head><body>";

/// One row for each method, with 95 % bootstrap intervals over the test samples.
fn table(cells: &[&Cell]) -> Result<String, Fault> {
    let mut table = String::from(
        "| method | score (mean ln p) | exact match | KV bytes | masks scored | layer evaluations | s |\n\
         |---|---:|---:|---:|---:|---:|---:|\n",
    );
    for cell in cells {
        let (low, high) = bootstrap_interval(&cell.matches, 1);
        let (worst, best) = bootstrap_interval(&cell.log_probabilities, 1);
        writeln!(
            table,
            "| {} | {:.3} [{worst:.3}, {best:.3}] | {:.3} [{low:.3}, {high:.3}] | {} | {} | {:.0} | {:.0} |",
            cell.method,
            cell.score(),
            cell.exact_match(),
            cell.kv_bytes,
            cell.evaluations,
            cell.layer_evaluations,
            cell.seconds,
        )?;
    }
    Ok(table)
}

fn distances(cells: &[&Cell]) -> Result<String, Fault> {
    let names: Vec<&str> = cells.iter().map(|cell| cell.method.as_str()).collect();
    let mut table = format!(
        "| | {} |\n|---|{}\n",
        names.join(" | "),
        "---:|".repeat(names.len())
    );
    for a in cells {
        write!(table, "| {} |", a.method)?;
        for b in cells {
            write!(table, " {:.2} |", jaccard_distance(&a.mask, &b.mask))?;
        }
        table.push('\n');
    }
    Ok(table)
}

/// What of a method's choice is dropped from one ratio to the next: share, and in brackets its geometric form.
fn turnovers(ratios: &[f64], names: &[String], cells: &Cells) -> Result<String, Fault> {
    let steps: Vec<String> = ratios
        .windows(2)
        .map(|two| format!("{} → {}", two[0], two[1]))
        .collect();
    let mut table = format!(
        "| method | {} |\n|---|{}\n",
        steps.join(" | "),
        "---:|".repeat(steps.len())
    );
    for name in names {
        write!(table, "| {name} |")?;
        for two in ratios.windows(2) {
            match (cells.get(two[0], name), cells.get(two[1], name)) {
                (Some(a), Some(b)) => {
                    let Turnover { share, geometric } = Turnover::between(&a.mask, &b.mask);
                    write!(table, " {share:.2} ({geometric:.2}) |")?;
                }
                _ => table += " |",
            }
        }
        table.push('\n');
    }
    Ok(table)
}

/// Exact match against the ratio, a line for each method.
fn lines(ratios: &[f64], names: &[String], cells: &Cells) -> Result<String, Fault> {
    let line = |name: &String| {
        let point = |&ratio: &f64| {
            cells
                .get(ratio, name)
                .map(|cell| (ratio, cell.exact_match()))
        };
        ratios.iter().filter_map(point).collect::<Vec<_>>()
    };
    let lines: Vec<(&str, Vec<(f64, f64)>)> = names
        .iter()
        .map(|name| (name.as_str(), line(name)))
        .collect();
    Ok(lines_svg("Exact match", ("ratio", "exact match"), &lines)?)
}

fn masks(grid: &Grid, cells: &[&Cell]) -> Result<String, Fault> {
    let selection = |cell: &&Cell| {
        let provenance = Provenance {
            method: cell.method.clone(),
            ..Default::default()
        };
        Selection::new(*grid, cell.mask.clone(), provenance)
    };
    let selections = cells.iter().map(selection).collect::<Result<Vec<_>, _>>()?;
    let named: Vec<(&str, &Selection)> = cells
        .iter()
        .map(|cell| cell.method.as_str())
        .zip(&selections)
        .collect();
    Ok(masks_svg(&named)?)
}

/// A Markdown table as HTML.
fn html(table: &str) -> String {
    let mut rows = String::from("<table>");
    for (index, line) in table.lines().enumerate().filter(|(index, _)| *index != 1) {
        let tag = if index == 0 { "th" } else { "td" };
        let cells = line.trim_matches('|').split('|');
        rows += "<tr>";
        cells.for_each(|cell| rows += &format!("<{tag}>{}</{tag}>", cell.trim()));
        rows += "</tr>";
    }
    rows + "</table>"
}
