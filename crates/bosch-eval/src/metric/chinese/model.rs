//! jieba-rs with the numbers of the Python package, so that it cuts alike where two cuts are almost
//! equally likely: jieba-rs rounds the emissions of the HMM to six decimals, and its total is smaller.

use std::fmt::Write;

use jieba_rs::{HmmModel, Jieba};

/// Counts of characters by state, the states in the order of [`PROBABILITIES`].
const COUNTS: &str = include_str!("emissions.txt");

/// Start and transitions in the format of [`HmmModel::load`]: states begin, end, middle, single.
const PROBABILITIES: &str = "\
-0.26268660809250016 -3.14e+100 -3.14e+100 -1.4652633398537678
-3.14e+100 -0.510825623765990 -0.916290731874155 -3.14e+100
-0.5897149736854513 -3.14e+100 -3.14e+100 -0.8085250474669937
-3.14e+100 -0.33344856811948514 -1.2603623820268226 -3.14e+100
-0.7211965654669841 -3.14e+100 -3.14e+100 -0.6658631448798212
";

/// The segmenter.
#[allow(clippy::expect_used)]
pub(super) fn jieba() -> Jieba {
    let model = HmmModel::load(&mut hmm().as_bytes());
    let mut jieba = Jieba::new();
    jieba.set_hmm_model(model.expect("the constant model is loaded by a test"));
    // jieba's dictionary has 3 × B超 twice, and both count in its total. A space is in no run.
    jieba.add_word(" ", Some(3), None);
    jieba
}

/// The model as text.
fn hmm() -> String {
    let mut rows = COUNTS.lines().filter(|line| !line.starts_with('#'));
    let totals = rows.next().map(counts).unwrap_or_default();
    let mut emissions = [const { String::new() }; 4];
    for row in rows {
        let Some((character, row)) = row.split_once(' ') else {
            continue;
        };
        let numbers = counts(row).into_iter().zip(totals);
        for (line, (count, total)) in emissions.iter_mut().zip(numbers) {
            if count > 0.0 {
                // Writing to a string cannot fail.
                let _ = write!(line, "{character}:{},", (count / total).ln());
            }
        }
    }
    format!("{PROBABILITIES}{}", emissions.join("\n"))
}

fn counts(row: &str) -> [f64; 4] {
    let mut numbers = row.split(' ').map(|number| number.parse().unwrap_or(0.0));
    std::array::from_fn(|_| numbers.next().unwrap_or(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn emissions_are_those_of_jieba_to_the_last_bit() {
        let hmm = hmm();
        let lines: Vec<&str> = hmm.lines().collect();
        assert_eq!(lines.len(), 9);
        for (line, expected) in lines[5..].iter().zip([
            "扎:-9.779623387534368",
            "册:-8.72817954208703",
            "举:-7.87929893473622",
            "鱤:-16.116547753583063",
        ]) {
            assert!(line.split(',').any(|pair| pair == expected), "{expected}");
        }
        let entries: usize = lines[5..]
            .iter()
            .map(|line| line.matches(':').count())
            .sum();
        assert_eq!(entries, 35_223);
    }
}
