//! Node descriptions of InfiniBand: the administrator of a node chooses the text.
//!
//! `rdma-ndd` writes `%h %d`, the host and its device. A device may have any name: `mlx5_0`, `HCA-1`, `ibp65s0`, or one
//! that the site chose. So its place behind the host decides, not its form.

/// How words of vendors' default texts begin, `MT4123 ConnectX6 Mellanox Technologies`: no device is called so.
const VENDOR_WORDS: [&str; 7] =
    ["BlueField", "ConnectX", "InfiniBand", "InfiniHost", "Mellanox", "NVIDIA", "Technologies"];

/// The description without blanks and the pair of quotes around it.
pub(super) fn unquoted(description: &str) -> &str {
    let text = description.trim();
    let inner = ['\'', '"'].iter().find_map(|quote| text.strip_prefix(*quote)?.strip_suffix(*quote));
    inner.map_or(text, str::trim)
}

/// `node01 HCA-1` or `node01 ibp65s0`: host and device. A remark in parentheses may follow. Other descriptions are names
/// as a whole.
pub(super) fn host_and_device(description: &str) -> Option<(&str, &str)> {
    let mut words = without_remark(description).split_whitespace();
    let (host, device) = (words.next()?, words.next()?);
    let is_pair = words.next().is_none() && !device.starts_with('(');
    (is_pair && !VENDOR_WORDS.iter().any(|word| device.starts_with(word))).then_some((host, device))
}

/// Whether this is an aggregation node of SHARP, `Mellanox Technologies Aggregation Node`: a channel adapter inside a
/// switch that reduces data of others. It is no host.
pub(super) fn is_aggregation_node(description: &str) -> bool {
    let words: Vec<&str> = description.split_whitespace().collect();
    let is_pair = |a: &str, b: &str| a.eq_ignore_ascii_case("aggregation") && b.eq_ignore_ascii_case("node");
    words.windows(2).any(|pair| is_pair(pair[0], pair[1]))
}

fn without_remark(description: &str) -> &str {
    let text = description.trim();
    let before = text.strip_suffix(')').and_then(|text| text.rsplit_once('('));
    before.map_or(text, |(before, _)| before.trim_end())
}
