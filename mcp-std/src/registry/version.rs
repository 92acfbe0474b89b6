//! Versions, and what looks like a range of them.

/// Whether it is no version but says which ones would do: `^1.2`, `>=1 <2`, `1.x`, `1 - 2`, `1 || 2`, `*`.
pub(super) fn is_range(version: &str) -> bool {
    let version = version.trim();
    if version.contains("||") {
        return version
            .split("||")
            .any(|part| begins_a_version(part.trim()));
    }
    if let Some((low, high)) = version.split_once(" - ") {
        return begins_a_version(low.trim()) && begins_a_version(high.trim());
    }
    let bare = version.trim_start_matches(['^', '~', '>', '<', '=']).trim();
    if bare.len() < version.len() && begins_a_version(bare) {
        return true;
    }
    // What follows `-` or `+` is a name, and may well be `x`.
    let numbers = version.split(['-', '+']).next().unwrap_or_default();
    let numbers = numbers.strip_prefix('v').unwrap_or(numbers);
    let wild = |part: &str| matches!(part, "x" | "X" | "*");
    let parts: Vec<_> = numbers.split('.').collect();
    let counted = |part: &&str| !part.is_empty() && part.bytes().all(|it| it.is_ascii_digit());
    parts.iter().any(|part| wild(part)) && parts.iter().all(|part| wild(part) || counted(part))
}

fn begins_a_version(text: &str) -> bool {
    let text = text.strip_prefix('v').unwrap_or(text);
    text.starts_with(|first: char| first.is_ascii_digit() || first == '*')
}

#[cfg(test)]
mod tests {
    use super::is_range;

    #[test]
    fn ranges_are_told_from_versions() {
        for range in [
            "^1.2.3",
            "~1.2.3",
            ">=1.2.3",
            "<=1",
            ">1",
            "<1.0.0",
            "=1.0.0",
            ">= 1.0.0",
            "1.x",
            "1.*",
            "1.2.X",
            "*",
            "x",
            "v1.x",
            "1.0.0 - 2.0.0",
            "1.2 || 1.3",
            ">=1.0.0 <2.0.0",
        ] {
            assert!(is_range(range), "{range}");
        }
        for version in [
            "1.2.3",
            "v1.2.3",
            "1.0.0-alpha.x",
            "2025.12.1",
            "1.0.0-rc1+x",
            "0",
            "nightly",
            "2021-03-15",
            "build-x",
            "1.0.0-x.7",
            "",
            "snapshot - 3",
        ] {
            assert!(!is_range(version), "{version}");
        }
    }
}
