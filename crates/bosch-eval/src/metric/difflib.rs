//! Matching blocks as Python's `difflib.SequenceMatcher(None, a, b)` finds them, automatic junk
//! included.

use std::collections::HashMap;

use super::steps::Steps;
use crate::Result;

/// Total length of the matching blocks.
///
/// # Errors
///
/// If that takes more than `steps`.
pub(crate) fn matching_characters(a: &[char], b: &[char], steps: &mut Steps) -> Result<usize> {
    let positions = Positions::new(a, b);
    let mut open = vec![(0, a.len(), 0, b.len())];
    let mut scratch = [vec![0; b.len() + 1], vec![0; b.len() + 1]];
    let mut matching = 0;
    while let Some((a_low, a_high, b_low, b_high)) = open.pop() {
        let ranges = (a_low..a_high, b_low..b_high);
        let (i, j, size) = positions.longest_match((a, b), ranges, &mut scratch, steps)?;
        if size > 0 {
            matching += size;
            if a_low < i && b_low < j {
                open.push((a_low, i, b_low, j));
            }
            if i + size < a_high && j + size < b_high {
                open.push((i + size, a_high, j + size, b_high));
            }
        }
    }
    Ok(matching)
}

/// For each character of `a`, where it is in `b`, unless it is popular there.
struct Positions {
    /// The list of each position of `a`.
    of: Vec<Option<usize>>,
    lists: Vec<Vec<usize>>,
}

impl Positions {
    fn new(a: &[char], b: &[char]) -> Self {
        let mut numbers: HashMap<char, usize> = HashMap::new();
        let mut lists: Vec<Vec<usize>> = Vec::new();
        for (j, &c) in b.iter().enumerate() {
            let list = *numbers.entry(c).or_insert_with(|| {
                lists.push(Vec::new());
                lists.len() - 1
            });
            lists[list].push(j);
        }
        let popular = b.len() / 100 + 1; // autojunk: only in texts of 200 characters or more
        if b.len() >= 200 {
            numbers.retain(|_, list| lists[*list].len() <= popular);
        }
        Self {
            of: a.iter().map(|c| numbers.get(c).copied()).collect(),
            lists,
        }
    }

    fn list(&self, i: usize, range: &std::ops::Range<usize>) -> &[usize] {
        let Some(list) = self.of[i] else { return &[] };
        let list = &self.lists[list];
        let from = list.partition_point(|&j| j < range.start);
        let to = list.partition_point(|&j| j < range.end);
        &list[from..to]
    }

    /// The longest block of unpopular characters, then the earliest in `a`, then in `b`; extended
    /// on both sides by whatever is equal.
    fn longest_match(
        &self,
        (a, b): (&[char], &[char]),
        (a_range, b_range): (std::ops::Range<usize>, std::ops::Range<usize>),
        [lengths, next]: &mut [Vec<usize>; 2], // all 0; index j + 1
        steps: &mut Steps,
    ) -> Result<(usize, usize, usize)> {
        let mut best = (a_range.start, b_range.start, 0);
        let mut filled: &[usize] = &[];
        for i in a_range.clone() {
            let list = self.list(i, &b_range);
            steps.take(8 + 3 * list.len())?;
            for &j in list {
                let length = lengths[j] + 1;
                next[j + 1] = length;
                if length > best.2 {
                    best = (i + 1 - length, j + 1 - length, length);
                }
            }
            filled.iter().for_each(|&j| lengths[j + 1] = 0);
            std::mem::swap(lengths, next);
            filled = list;
        }
        filled.iter().for_each(|&j| lengths[j + 1] = 0);

        let (mut i, mut j, mut size) = best;
        while i > a_range.start && j > b_range.start && a[i - 1] == b[j - 1] {
            (i, j, size) = (i - 1, j - 1, size + 1);
        }
        while i + size < a_range.end && j + size < b_range.end && a[i + size] == b[j + size] {
            size += 1;
        }
        Ok((i, j, size))
    }
}
