//! Two plots, both with logarithmic scales, since what is compared differs by factors.

use core::fmt::Write as _;

const WIDTH: f64 = 720.0;
const LEFT: f64 = 190.0;
const RIGHT: f64 = 90.0;
const ROW: f64 = 24.0;
const TOP: f64 = 44.0;

/// One bar each: what it is, and its value.
#[must_use]
pub fn bars(title: &str, unit: &str, values: &[(String, f64)]) -> String {
    let height = TOP + ROW * values.len() as f64 + 16.0;
    let mut svg = head(title, height);
    let least = values.iter().map(|it| it.1).fold(f64::INFINITY, f64::min);
    let most = values.iter().map(|it| it.1).fold(0.0, f64::max);
    // The shortest bar is to be seen as well.
    let low = (least / 2.0).log10();
    let scale = (WIDTH - LEFT - RIGHT) / (most.log10() - low).max(0.1);
    for (at, (name, value)) in values.iter().enumerate() {
        let y = TOP + ROW * at as f64;
        let width = (value.log10() - low) * scale;
        let colour = if name.starts_with("this") {
            "#2563eb"
        } else {
            "#94a3b8"
        };
        let _ = write!(
            svg,
            r#"<text x="{x:.0}" y="{text:.0}" text-anchor="end">{name}</text><rect x="{LEFT:.0}" y="{y:.0}" width="{width:.1}" height="{bar:.0}" fill="{colour}"/><text x="{end:.1}" y="{text:.0}">{value}</text>"#,
            x = LEFT - 8.0,
            text = y + 14.0,
            name = escaped(name),
            bar = ROW - 6.0,
            end = LEFT + width + 6.0,
            value = escaped(&format!("{} {unit}", figure(*value))),
        );
    }
    svg.push_str("</svg>\n");
    svg
}

/// One line each: its name, and its points.
#[must_use]
pub fn lines(title: &str, across: &str, up: &str, all: &[(String, Vec<(f64, f64)>)]) -> String {
    const HEIGHT: f64 = 360.0;
    const BOTTOM: f64 = 50.0;
    const COLOURS: [&str; 6] = [
        "#2563eb", "#dc2626", "#16a34a", "#9333ea", "#ea580c", "#475569",
    ];
    let mut svg = head(title, HEIGHT);
    let points = || all.iter().flat_map(|(_, points)| points);
    let (x0, x1) = decades(points().map(|it| it.0));
    let (y0, y1) = decades(points().map(|it| it.1));
    let x = |value: f64| LEFT + (value.log10() - x0) / (x1 - x0) * (WIDTH - LEFT - RIGHT);
    let y =
        |value: f64| HEIGHT - BOTTOM - (value.log10() - y0) / (y1 - y0) * (HEIGHT - BOTTOM - TOP);
    for (low, high, vertical) in [(x0, x1, true), (y0, y1, false)] {
        for decade in 0..=(high - low) as u32 {
            let value = 10f64.powf(low + f64::from(decade));
            let label = figure(value);
            let _ = if vertical {
                write!(
                    svg,
                    r##"<path d="M{at:.1} {TOP}V{end}" stroke="#e2e8f0"/><text x="{at:.1}" y="{text}" text-anchor="middle">{label}</text>"##,
                    at = x(value),
                    end = HEIGHT - BOTTOM,
                    text = HEIGHT - BOTTOM + 16.0
                )
            } else {
                write!(
                    svg,
                    r##"<path d="M{LEFT} {at:.1}H{end}" stroke="#e2e8f0"/><text x="{text}" y="{at:.1}" text-anchor="end">{label}</text>"##,
                    at = y(value),
                    end = WIDTH - RIGHT,
                    text = LEFT - 8.0
                )
            };
        }
    }
    for (at, (name, points)) in all.iter().enumerate() {
        let colour = COLOURS[at % COLOURS.len()];
        let path: Vec<String> = points
            .iter()
            .map(|it| format!("{:.1} {:.1}", x(it.0), y(it.1)))
            .collect();
        let _ = write!(
            svg,
            r#"<path d="M{}" fill="none" stroke="{colour}" stroke-width="2"/><text x="16" y="{}" fill="{colour}">{}</text>"#,
            path.join("L"),
            TOP + 18.0 * at as f64,
            escaped(name)
        );
    }
    let _ = write!(
        svg,
        r#"<text x="{}" y="{}" text-anchor="middle">{}</text><text x="{}" y="{}" text-anchor="end">{}</text></svg>"#,
        f64::midpoint(LEFT, WIDTH - RIGHT),
        HEIGHT - 12.0,
        escaped(across),
        LEFT - 8.0,
        TOP - 10.0,
        escaped(up),
    );
    svg.push('\n');
    svg
}

fn head(title: &str, height: f64) -> String {
    format!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" font-size="12" fill="#0f172a"><rect width="100%" height="100%" fill="#fff"/><text x="16" y="22" font-size="15">{}</text>"##,
        escaped(title)
    )
}

/// The powers of ten around all values.
fn decades(values: impl Iterator<Item = f64> + Clone) -> (f64, f64) {
    let low = values.clone().fold(f64::INFINITY, f64::min).log10().floor();
    let high = values.fold(0.0, f64::max).log10().ceil();
    (low, high.max(low + 1.0))
}

/// Three digits, with a letter for thousands, millions and milliards.
fn figure(value: f64) -> String {
    let (value, letter) = match value {
        1e9.. => (value / 1e9, "G"),
        1e6.. => (value / 1e6, "M"),
        1e3.. => (value / 1e3, "k"),
        _ => (value, ""),
    };
    let text = match value {
        100.0.. => format!("{value:.0}"),
        10.0.. => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    };
    let text = if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.')
    } else {
        &*text
    };
    format!("{text}{letter}")
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_three_digits() {
        let figures = [0.5, 7.25, 12.34, 999.0, 1_000.0, 54_321.0, 2_865_000.0, 1e9];
        let texts = figures.map(figure);
        assert_eq!(
            texts,
            ["0.5", "7.25", "12.3", "999", "1k", "54.3k", "2.87M", "1G"]
        );
    }

    #[test]
    fn a_bar_is_as_long_as_its_value() {
        let svg = bars(
            "t",
            "/s",
            &[("a<b".to_owned(), 10.0), ("this".to_owned(), 1_000.0)],
        );
        assert_eq!(svg.matches("<rect").count(), 3, "{svg}");
        assert!(svg.contains("a&lt;b") && svg.contains("1k /s"), "{svg}");
        assert!(
            svg.contains(r#"width="440.0""#),
            "the longest fills the place: {svg}"
        );
    }

    #[test]
    fn a_line_goes_through_its_points() {
        let points = vec![(10.0, 1.0), (1_000.0, 100.0)];
        let svg = lines("t", "bytes", "ns", &[("l".to_owned(), points)]);
        assert!(svg.contains(r#"d="M190.0 310.0L630.0 44.0""#), "{svg}");
    }
}
