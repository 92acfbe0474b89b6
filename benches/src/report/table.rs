//! Rows of the programs' output, and tables of them.

use core::fmt::Write as _;

use super::criterion::Measured;

/// The cells of each row of the Markdown tables in a text, without heads and rules.
#[must_use]
pub fn rows(text: &str) -> Vec<Vec<&str>> {
    let lines = text.lines().filter(|line| line.starts_with('|'));
    let cells = lines.map(|line| {
        let line = line.trim_matches('|');
        line.split('|').map(str::trim).collect::<Vec<_>>()
    });
    cells
        .filter(|cells| {
            cells
                .iter()
                .any(|cell| cell.starts_with(|it: char| it.is_ascii_digit()))
        })
        .collect()
}

/// Means of what `benches/http/run` prints: the server, the connections, requests/s, CPU microseconds of each.
#[must_use]
pub fn http(text: &str) -> Vec<(String, u32, f64, f64)> {
    let mut means: Vec<(String, u32, f64, f64, f64)> = Vec::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [
            name,
            connections,
            "connections",
            rate,
            "requests/s",
            cpu,
            ..,
        ] = *words
        else {
            continue;
        };
        let (Ok(connections), Ok(rate), Ok(cpu)) =
            (connections.parse(), rate.parse::<f64>(), cpu.parse::<f64>())
        else {
            continue;
        };
        match means
            .iter_mut()
            .find(|it| it.0 == name && it.1 == connections)
        {
            Some(mean) => {
                mean.2 += rate;
                mean.3 += cpu;
                mean.4 += 1.0;
            }
            None => means.push((name.to_owned(), connections, rate, cpu, 1.0)),
        }
    }
    let mean =
        |(name, connections, rate, cpu, count)| (name, connections, rate / count, cpu / count);
    means.into_iter().map(mean).collect()
}

/// One table for each group, each contender beside `ours`, the first one that is found in it.
#[must_use]
pub fn groups(all: &[Measured], ours: &[&str]) -> String {
    let mut text = String::new();
    let head = "| benchmark | who | time | GB/s | times ours |\n|---|---|--:|--:|--:|\n";
    text.push_str(head);
    for group in all.chunk_by(|one, other| one.group == other.group) {
        let base = group.iter().find(|it| ours.contains(&&*it.name));
        for it in group {
            let rate = it.bytes.map_or_else(
                || "-".to_owned(),
                |bytes| format!("{:.2}", bytes as f64 / it.nanos),
            );
            let ratio = base.map_or_else(
                || "-".to_owned(),
                |base| format!("{:.2}", it.nanos / base.nanos),
            );
            // Writing to a String cannot fail.
            let _ = writeln!(
                text,
                "| {} | {} | {} | {rate} | {ratio} |",
                it.group,
                it.name,
                time(it.nanos)
            );
        }
    }
    text
}

/// Nanoseconds in the unit that fits.
#[must_use]
pub fn time(nanos: f64) -> String {
    match nanos {
        ..1e4 => format!("{nanos:.0} ns"),
        ..1e7 => format!("{:.1} us", nanos / 1e3),
        _ => format!("{:.1} ms", nanos / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_those_with_figures() {
        let text = "| a | b |\n|---|--:|\n| x | 12 |\nno row\n| y | - |\n";
        assert_eq!(rows(text), [["x", "12"]]);
    }

    #[test]
    fn means_are_of_one_server_and_one_number_of_connections() {
        let text = "# round 1\n\
            this       16 connections      1000 requests/s    4.00 us CPU\n\
            this      256 connections      3000 requests/s    5.00 us CPU\n\
            this       16 connections      2000 requests/s    6.00 us CPU\n";
        let expected = [
            ("this".to_owned(), 16, 1500.0, 5.0),
            ("this".to_owned(), 256, 3000.0, 5.0),
        ];
        assert_eq!(http(text), expected);
    }

    #[test]
    fn times_have_their_unit() {
        assert_eq!(time(355.4), "355 ns");
        assert_eq!(time(35_540.0), "35.5 us");
        assert_eq!(time(12e6), "12.0 ms");
    }

    #[test]
    fn ratios_are_to_ours() {
        let one = |name: &str, nanos| Measured {
            group: "g".to_owned(),
            name: name.to_owned(),
            nanos,
            bytes: Some(100),
        };
        let text = groups(&[one("engine", 50.0), one("peer", 200.0)], &["engine"]);
        assert!(
            text.contains("| g | engine | 50 ns | 2.00 | 1.00 |"),
            "{text}"
        );
        assert!(
            text.contains("| g | peer | 200 ns | 0.50 | 4.00 |"),
            "{text}"
        );
    }
}
