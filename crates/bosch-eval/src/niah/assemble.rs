//! From choices to text, without any randomness: RULER's `generate_input_output`.

use super::config::{DEPTHS, NeedleKind};

/// A line of the noise haystack (RULER's wording).
pub(crate) const NOISE: &str =
    "The grass is green. The sky is blue. The sun is yellow. Here we go. There and back again.";

/// The sentence that hides a value.
pub(crate) fn needle(kind: NeedleKind, key: &str, value: &str) -> String {
    format!(
        "One of the special magic {} for {key} is: {value}.",
        kind.plural()
    )
}

/// The `i`-th of RULER's depths in percent: `round(linspace(0, 100, 40))`. Never a tie to round.
pub(crate) fn depth(i: usize) -> f64 {
    (i as f64 * 100.0 / (DEPTHS - 1) as f64).round()
}

/// Where a depth in percent is among `length` sentences or lines; at most `length`.
pub(crate) fn position(length: usize, percent: f64) -> usize {
    (length as f64 * (percent / 100.0)) as usize
}

/// An essay with a needle before the sentence of each position; `needles` in the order of the text.
///
/// A stretch without sentences leaves a space of its own, as in RULER.
pub(crate) fn essay_context(sentences: &[&str], needles: &[(usize, &str)]) -> String {
    let mut parts = Vec::with_capacity(2 * needles.len() + 1);
    let mut start = 0;
    for &(position, needle) in needles {
        parts.push(sentences[start..position].join(" "));
        parts.push(needle.to_owned());
        start = position;
    }
    parts.push(sentences[start..].join(" "));
    parts.join(" ")
}

/// Lines with a needle before the line of each position; `needles` in the order of the text.
pub(crate) fn lines_context<'a>(lines: &[&'a str], needles: &[(usize, &'a str)]) -> String {
    let mut parts = Vec::with_capacity(lines.len() + needles.len());
    let mut start = 0;
    for &(position, needle) in needles {
        parts.extend_from_slice(&lines[start..position]);
        parts.push(needle);
        start = position;
    }
    parts.extend_from_slice(&lines[start..]);
    parts.join("\n")
}

/// What is asked, and of what kind.
pub(crate) struct Query<'a> {
    /// Kind of the values.
    pub kind: NeedleKind,
    /// The keys asked for.
    pub keys: Vec<&'a str>,
    /// Whether the answer is a single value.
    pub single: bool,
}

impl Query<'_> {
    /// The whole input: what to expect, the haystack, the question.
    pub(crate) fn input(&self, context: &str) -> String {
        let kind = self.kind.plural();
        let keys = listed(&self.keys);
        if self.single {
            let kind = singular(kind);
            format!(
                "A special magic {kind} is hidden within the following text. Make sure to memorize \
                 it. I will quiz you about the {kind} afterwards.\n{context}\nWhat is the special \
                 magic {kind} for {keys} mentioned in the provided text?"
            )
        } else {
            format!(
                "Some special magic {kind} are hidden within the following text. Make sure to \
                 memorize it. I will quiz you about the {kind} afterwards.\n{context}\nWhat are \
                 all the special magic {kind} for {keys} mentioned in the provided text?"
            )
        }
    }

    /// How the answer begins; it starts with a space.
    pub(crate) fn answer_prefix(&self) -> String {
        let kind = self.kind.plural();
        let (kind, verb) = if self.single {
            (singular(kind), "is")
        } else {
            (kind, "are")
        };
        let keys = listed(&self.keys);
        format!(" The special magic {kind} for {keys} mentioned in the provided text {verb}")
    }
}

fn singular(plural: &str) -> &str {
    plural.strip_suffix('s').unwrap_or(plural)
}

/// `a`, or `a, and b`, or `a, b, and c`.
pub(crate) fn listed<S: AsRef<str>>(items: &[S]) -> String {
    let items: Vec<&str> = items.iter().map(AsRef::as_ref).collect();
    match items.as_slice() {
        [] => String::new(),
        [only] => (*only).to_owned(),
        [first @ .., last] => format!("{}, and {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depths_are_the_rounded_linspace() {
        let first: Vec<f64> = (0..6).map(depth).collect();
        assert_eq!(first, [0.0, 3.0, 5.0, 8.0, 10.0, 13.0]);
        assert_eq!((depth(38), depth(39)), (97.0, 100.0));
        assert_eq!(
            (position(8, 100.0), position(8, 97.0), position(0, 50.0)),
            (8, 7, 0)
        );
    }

    #[test]
    fn lists_read_as_in_ruler() {
        assert_eq!(listed(&["a"]), "a");
        assert_eq!(listed(&["a", "b"]), "a, and b");
        assert_eq!(listed(&["a", "b", "c"]), "a, b, and c");
    }

    #[derive(serde::Deserialize)]
    struct Case {
        task: String,
        type_haystack: String,
        type_needle_v: NeedleKind,
        num_needle_v: usize,
        num_needle_q: usize,
        num_haystack: usize,
        keys: Vec<String>,
        values: Vec<Vec<String>>,
        needle_order: Vec<usize>,
        position_draw: Vec<usize>,
        query_indices: Vec<usize>,
        haystack_sentences: Option<Vec<String>>,
        distractor_pairs: Option<Vec<(String, String)>>,
        input: String,
        answer_prefix: String,
        outputs: Vec<String>,
    }

    #[test]
    fn the_same_choices_give_the_same_text_as_in_ruler() {
        let lines = include_str!("../../tests/data/niah_assembly.jsonl").lines();
        let mut count = 0;
        for case in lines.map(|line| serde_json::from_str::<Case>(line).unwrap()) {
            let kind = case.type_needle_v;
            let per_key = case.num_needle_v;
            let hidden = |i: &usize| {
                needle(
                    kind,
                    &case.keys[i / per_key],
                    &case.values[i / per_key][i % per_key],
                )
            };
            let texts: Vec<String> = case.needle_order.iter().map(hidden).collect();
            let place = |positions: Vec<usize>| -> Vec<(usize, String)> {
                positions.into_iter().zip(texts.clone()).collect()
            };
            let distractors: Vec<String> = case
                .distractor_pairs
                .iter()
                .flatten()
                .map(|(k, v)| needle(kind, k, v))
                .collect();
            let units: Vec<&str> = match case.type_haystack.as_str() {
                "essay" => case
                    .haystack_sentences
                    .iter()
                    .flatten()
                    .map(String::as_str)
                    .collect(),
                "noise" => vec![NOISE; case.num_haystack],
                _ => distractors.iter().map(String::as_str).collect(),
            };
            let context = if case.type_haystack == "essay" {
                let percents = case.position_draw.iter().map(|&draw| draw as f64);
                let mut positions: Vec<usize> = percents
                    .map(|percent| position(units.len(), percent))
                    .collect();
                positions.sort_unstable();
                let placed = place(positions);
                let placed: Vec<_> = placed
                    .iter()
                    .map(|(at, text)| (*at, text.as_str()))
                    .collect();
                essay_context(&units, &placed)
            } else {
                let placed = place(case.position_draw.clone());
                let placed: Vec<_> = placed
                    .iter()
                    .map(|(at, text)| (*at, text.as_str()))
                    .collect();
                lines_context(&units, &placed)
            };
            let query = Query {
                kind,
                keys: case
                    .query_indices
                    .iter()
                    .map(|&i| case.keys[i].as_str())
                    .collect(),
                single: case.num_needle_q * case.num_needle_v == 1,
            };
            assert_eq!(query.input(&context), case.input, "{}", case.task);
            assert_eq!(query.answer_prefix(), case.answer_prefix, "{}", case.task);
            let outputs: Vec<String> = case
                .query_indices
                .iter()
                .flat_map(|&i| case.values[i].clone())
                .collect();
            assert_eq!(outputs, case.outputs, "{}", case.task);
            count += 1;
        }
        assert_eq!(count, 34);
    }
}
