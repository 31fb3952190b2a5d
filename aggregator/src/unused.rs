//! What of the inputs was not used, in words: for every command that reads recordings.

use crate::{Decoder, SkippedFile};
use schemas::{DropCounts, DropReason};
use std::collections::BTreeMap;

/// Files named for each reason.
const NAMED_MAX: usize = 5;

/// A line for each reason for which files and rows were not used.
pub fn lines(decoder: &Decoder, skipped: &[SkippedFile], drops: &DropCounts) -> Vec<String> {
    let mut by_note: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for file in skipped {
        by_note.entry(file.note.as_ref()).or_default().push(file.path.display().to_string());
    }
    let of_files = by_note.into_iter().map(|(note, files)| {
        let (count, more) = (files.len(), files.len().saturating_sub(NAMED_MAX));
        let named = files[..count.min(NAMED_MAX)].join(", ");
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        format!("skipped {count} {}: {named}{more} ({note})", if count == 1 { "file" } else { "files" })
    });
    of_files.chain(drops.nonzero().map(|(reason, count)| of_rows(decoder, reason, count))).collect()
}

fn of_rows(decoder: &Decoder, reason: DropReason, count: u64) -> String {
    let example = decoder.examples().get(reason).map_or(String::new(), |text| format!(" First: {text}"));
    let used = if reason == DropReason::ClockAhead { "doubted" } else { "not used" };
    format!("{used}: {count} {} - {}{example}", reason.name(), reason.meaning())
}

/// Why no row at all was used.
pub fn why_nothing(decoder: &Decoder, drops: &DropCounts) -> String {
    let reasons: Vec<String> =
        drops.nonzero().map(|(reason, count)| format!("{count} {}", reason.name())).collect();
    if reasons.is_empty() {
        return "the inputs are empty".to_string();
    }
    let nameless = [
        DropReason::UnknownSchema,
        DropReason::MissingTimestamp,
        DropReason::MissingColumn,
        DropReason::CsvWithoutHeader,
        DropReason::Unattributable,
    ];
    let wanted = nameless.into_iter().any(|reason| drops.get(reason) > 0);
    let wanted = if wanted { format!("; a row needs {}", crate::WANTED) } else { String::new() };
    let first =
        decoder.examples().iter().next().map_or(String::new(), |(_, text)| format!("; first: {text}"));
    format!("{}{first}{wanted}", reasons.join(", "))
}
