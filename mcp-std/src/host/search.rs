//! Search over tools: Okapi BM25 over their names, titles, descriptions and arguments.
//!
//! A few dozen lines of our own: the texts are short, the words are those of identifiers (`readFile` is two), and the index is
//! made anew with each catalogue, which a general engine is slower at.

use std::collections::HashMap;

/// How soon more of a word says no more.
const K1: f32 = 1.2;
/// How much a long text counts for less.
const B: f32 = 0.75;
/// A word in a name counts so often.
const IN_NAME: u16 = 4;

/// Which words are in which texts.
#[derive(Debug, Default)]
pub(crate) struct Index {
    /// For each word, the texts that have it and how often.
    words: HashMap<String, Vec<(u32, u16)>>,
    lengths: Vec<u32>,
    mean: f32,
}

impl Index {
    /// An index of these texts, each with its name.
    pub(crate) fn new<'t>(texts: impl Iterator<Item = (&'t str, String)>) -> Self {
        let mut index = Self::default();
        for (at, (name, text)) in texts.enumerate() {
            let at = u32::try_from(at).unwrap_or(u32::MAX);
            let mut counts: HashMap<String, u16> = HashMap::new();
            let mut length: u32 = 0;
            let mut count = |word: String, weight: u16| {
                let times = counts.entry(word).or_default();
                *times = times.saturating_add(weight);
                length = length.saturating_add(u32::from(weight));
            };
            words(name).for_each(|word| count(word, IN_NAME));
            words(&text).for_each(|word| count(word, 1));
            for (word, times) in counts {
                index.words.entry(word).or_default().push((at, times));
            }
            index.lengths.push(length);
        }
        let total: f32 = index.lengths.iter().map(|&it| precise(it)).sum();
        index.mean = total / index.lengths.len().max(1) as f32;
        index
    }

    /// The texts that fit best, best first, by their numbers. Of equals the earlier one comes first.
    pub(crate) fn find(&self, query: &str, most: usize) -> Vec<usize> {
        let all = self.lengths.len() as f32;
        let mut scores: HashMap<u32, f32> = HashMap::new();
        let mut seen = std::collections::HashSet::new();
        /// A question is not longer.
        const WORDS: usize = 64;
        for word in words(query).take(WORDS) {
            let Some(found) = self.words.get(&word) else {
                continue;
            };
            if !seen.insert(word) {
                continue;
            }
            let having = found.len() as f32;
            let rarity = (1.0 + (all - having + 0.5) / (having + 0.5)).ln();
            for &(at, times) in found {
                let length = precise(self.lengths[at as usize]) / self.mean.max(1.0);
                let times = f32::from(times);
                let weight = times * (K1 + 1.0) / (times + K1 * (1.0 - B + B * length));
                *scores.entry(at).or_default() += rarity * weight;
            }
        }
        let mut best: Vec<_> = scores.into_iter().collect();
        best.sort_by(|(a, x), (b, y)| y.total_cmp(x).then(a.cmp(b)));
        best.into_iter()
            .take(most)
            .map(|(at, _)| at as usize)
            .collect()
    }
}

fn precise(length: u32) -> f32 {
    // Longer than this is not to be told apart.
    f32::from(u16::try_from(length).unwrap_or(u16::MAX))
}

/// The words of a text in small letters: parts of identifiers are words, and an `s` at the end is none.
fn words(text: &str) -> impl Iterator<Item = String> {
    let parts = text.split(|c: char| !c.is_alphanumeric());
    parts.flat_map(humps).map(|word| {
        let word = word.to_lowercase();
        match word.strip_suffix('s') {
            Some(stem) if stem.len() > 2 && !stem.ends_with('s') => stem.to_owned(),
            _ => word,
        }
    })
}

/// `readFile` is `read` and `File`; `HTTP` is one.
fn humps(word: &str) -> impl Iterator<Item = &str> {
    let mut rest = word;
    core::iter::from_fn(move || {
        let mut before = rest.chars().next()?;
        let turn = rest.char_indices().skip(1).find(|&(_, c)| {
            let turns = before.is_lowercase() && c.is_uppercase();
            before = c;
            turns
        });
        let (part, after) = rest.split_at(turn.map_or(rest.len(), |(at, _)| at));
        rest = after;
        Some(part)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_words() {
        let all: Vec<_> = words("readFiles of_the HTTP-class v2").collect();
        assert_eq!(all, ["read", "file", "of", "the", "http", "class", "v2"]);
    }

    #[test]
    fn what_fits_best_comes_first() {
        let tools = [
            ("create_issue", "Opens an issue in a repository"),
            ("list_issues", "Lists the issues of a repository"),
            (
                "read_file",
                "Reads a file, for which an issue can be opened",
            ),
            ("weather", "Tomorrow's weather"),
        ];
        let index = Index::new(tools.iter().map(|(name, text)| (*name, (*text).to_owned())));
        assert_eq!(index.find("weather tomorrow", 5), [3]);
        assert_eq!(index.find("create an issue", 2)[0], 0);
        assert_eq!(index.find("files", 1), [2]);
        assert!(index.find("nothing like that", 5).is_empty() || index.find("zebra", 5).is_empty());
        assert!(Index::default().find("x", 5).is_empty());
    }
}
