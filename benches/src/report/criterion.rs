//! What criterion left in its folder.

use core::cmp::Ordering;
use std::path::Path;
use std::{fs, io};

use serde::Deserialize;

/// One benchmark.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Measured {
    /// The group, such as `envelope/text_70k`.
    pub group: String,
    /// Who was measured, or the parameter.
    pub name: String,
    /// Nanoseconds of one turn.
    pub nanos: f64,
    /// Bytes of one turn, where the benchmark tells them.
    pub bytes: Option<u64>,
}

#[derive(Deserialize)]
struct Benchmark {
    group_id: String,
    function_id: Option<String>,
    value_str: Option<String>,
    throughput: Option<Throughput>,
}

#[derive(Deserialize)]
struct Throughput {
    #[serde(rename = "Bytes")]
    bytes: Option<u64>,
}

#[derive(Deserialize)]
struct Estimates {
    median: Estimate,
}

#[derive(Deserialize)]
struct Estimate {
    point_estimate: f64,
}

/// All benchmarks below `folder`, usually `target/criterion`, by group, in each the fastest first; parameters that are
/// numbers by their size.
///
/// # Errors
///
/// A file cannot be read, or is not what criterion writes.
pub fn read(folder: &Path) -> io::Result<Vec<Measured>> {
    let mut all = Vec::new();
    collect(folder, &mut all)?;
    all.sort_by(|one, other| {
        let by_name = match (one.name.parse::<u64>(), other.name.parse::<u64>()) {
            (Ok(one), Ok(other)) => one.cmp(&other),
            _ => Ordering::Equal,
        };
        one.group
            .cmp(&other.group)
            .then(by_name)
            .then(one.nanos.total_cmp(&other.nanos))
    });
    Ok(all)
}

fn collect(folder: &Path, all: &mut Vec<Measured>) -> io::Result<()> {
    let (benchmark, estimates) = (folder.join("benchmark.json"), folder.join("estimates.json"));
    if folder.ends_with("new") && benchmark.is_file() {
        let benchmark: Benchmark = json(&benchmark)?;
        let estimates: Estimates = json(&estimates)?;
        let name = benchmark.function_id.or(benchmark.value_str);
        all.push(Measured {
            group: benchmark.group_id,
            name: name.unwrap_or_default(),
            nanos: estimates.median.point_estimate,
            bytes: benchmark.throughput.and_then(|it| it.bytes),
        });
        return Ok(());
    }
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, all)?;
        }
    }
    Ok(())
}

fn json<T: for<'de> Deserialize<'de>>(path: &Path) -> io::Result<T> {
    let text = fs::read(path)?;
    serde_json::from_slice(&text)
        .map_err(|error| io::Error::other(format!("{}: {error}", path.display())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_read_in_order() {
        let folder = std::env::temp_dir().join(format!("report-{}", std::process::id()));
        for (group, name, nanos) in [
            ("b", "slow", 30),
            ("b", "fast", 20),
            ("a", "1000", 7),
            ("a", "20", 9),
        ] {
            let folder = folder.join(group).join(name).join("new");
            fs::create_dir_all(&folder).expect("a folder");
            let benchmark = format!(
                r#"{{"group_id":"{group}","function_id":"{name}","value_str":null,"throughput":{{"Bytes":10}},"full_id":""}}"#
            );
            fs::write(folder.join("benchmark.json"), benchmark).expect("a file");
            let estimates = format!(r#"{{"median":{{"point_estimate":{nanos}.5}}}}"#);
            fs::write(folder.join("estimates.json"), estimates).expect("a file");
        }
        let all = read(&folder).expect("what criterion writes");
        fs::remove_dir_all(&folder).expect("it was made here");
        let names: Vec<&str> = all.iter().map(|it| &*it.name).collect();
        assert_eq!(names, ["20", "1000", "fast", "slow"]);
        assert_eq!((all[2].nanos, all[2].bytes), (20.5, Some(10)));
    }
}
