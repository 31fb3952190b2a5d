//! Bytes a second of InfiniBand's words for width and speed: what is left of the signalling rate after encoding.

/// Bytes a second of one lane in one direction. SDR to QDR lose a fifth to 8b/10b, later ones 2 in 66 bits.
fn lane_bytes_per_s(speed: &str) -> Option<f64> {
    let bits_per_s = match speed {
        "SDR" | "2.5" => 2.5e9 * 0.8,
        "DDR" | "5" | "5.0" => 5.0e9 * 0.8,
        "QDR" | "10" | "10.0" => 10.0e9 * 0.8,
        "FDR10" => 10.312_5e9 * 64.0 / 66.0,
        "FDR" | "14" => 14.062_5e9 * 64.0 / 66.0,
        "EDR" | "25" => 25.781_25e9 * 64.0 / 66.0,
        "HDR" | "50" => 50.0e9,
        "NDR" | "100" => 100.0e9,
        "XDR" | "200" => 200.0e9,
        _ => return None,
    };
    Some(bits_per_s / 8.0)
}

/// Bytes a second of `4x` and `EDR`, or of `4x` and `25` as `ibdiagnet.lst` writes it; `None` for unknown words.
pub fn bytes_per_s(width: &str, speed: &str) -> Option<f64> {
    let lanes: u32 = width.strip_suffix(['x', 'X'])?.parse().ok()?;
    matches!(lanes, 1 | 2 | 4 | 8 | 12).then_some(())?;
    Some(f64::from(lanes) * lane_bytes_per_s(speed)?)
}

/// Bytes a second of `4xEDR`, as `ibnetdiscover` writes it.
pub fn bytes_per_s_of(word: &str) -> Option<f64> {
    let at = word.find(['x', 'X'])? + 1;
    bytes_per_s(word.get(..at)?, word.get(at..)?)
}

/// `1.25e10` as `12.50 GB/s`, in the largest unit that is not above it; `-` for an unknown rate.
pub fn rate_text(bytes_per_s: f64) -> String {
    if bytes_per_s.is_nan() {
        return "-".to_string();
    }
    let units = [("TB/s", 1e12), ("GB/s", 1e9), ("MB/s", 1e6), ("kB/s", 1e3)];
    match units.into_iter().find(|(_, unit)| bytes_per_s >= *unit) {
        Some((name, unit)) => format!("{:.2} {name}", bytes_per_s / unit),
        None => format!("{bytes_per_s:.0} B/s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_those_of_the_data_sheets() {
        for (word, expected) in
            [("4xSDR", 1e9), ("4xQDR", 4e9), ("4xFDR10", 5e9), ("4xEDR", 12.5e9), ("2xHDR", 12.5e9)]
        {
            assert!((bytes_per_s_of(word).unwrap() / expected - 1.0).abs() < 1e-9, "{word}");
        }
        assert!((bytes_per_s("4x", "14").unwrap() / 6.818e9 - 1.0).abs() < 1e-3);
        for word in ["", "x", "4x", "3xEDR", "4x???", "EDR", "é4xEDR", "-4xEDR", "4294967296xEDR"] {
            assert_eq!(bytes_per_s_of(word), None, "{word}");
        }
    }
    #[test]
    fn rates_are_written_in_a_fitting_unit() {
        for (bytes_per_s, text) in [
            (f64::NAN, "-"),
            (0.0, "0 B/s"),
            (4.7e3, "4.70 kB/s"),
            (2.5e8, "250.00 MB/s"),
            (1.25e10, "12.50 GB/s"),
            (9.72e13, "97.20 TB/s"),
        ] {
            assert_eq!(rate_text(bytes_per_s), text);
        }
    }
}
