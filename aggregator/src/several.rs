//! Messages that hold several rows: a list of rows, or a row with lists of records.

use crate::decode::{Decoded, Decoder, Outcome};
use crate::json::{self, Fields};
use crate::nested;
use schemas::DropReason;

impl Decoder {
    /// Decodes a list of rows.
    pub(crate) fn json_list(&mut self, hint: &str, text: &str, out: &mut Decoded) -> Outcome {
        let Some(items) = json::items(text) else {
            return self.refuse(DropReason::InvalidJson, "line", text.as_bytes());
        };
        let mut total = Total::default();
        for item in items {
            total.add(self.json_row(hint, item, out));
        }
        total.outcome()
    }

    /// Decodes a row whose columns have parts.
    pub(crate) fn json_parts(&mut self, hint: &str, fields: &Fields<'_>, out: &mut Decoded) -> Outcome {
        self.rows_of(hint, out, |row| nested::rows(fields, row))
    }

    /// Decodes the flat rows of one message, which `give` gives; false if there is more than a message can be.
    pub(crate) fn rows_of(
        &mut self,
        hint: &str,
        out: &mut Decoded,
        give: impl FnOnce(&mut dyn FnMut(&str)) -> bool,
    ) -> Outcome {
        let mut total = Total::default();
        let all = give(&mut |row| {
            let known = self.known_layout(hint, row.as_bytes(), out);
            total.add(known.unwrap_or_else(|| self.flat_row(hint, row, out)));
        });
        if !all {
            total.add(self.refuse(DropReason::InvalidJson, "list too long", b""));
        }
        total.outcome()
    }

    /// What became of a message of telemetry, whose rows are decoded.
    pub(crate) fn telemetry(&mut self, outcome: Outcome, text: &str) -> Outcome {
        match outcome {
            Outcome::Skipped => self.refuse(DropReason::MissingColumn, "Sensors", text.as_bytes()),
            outcome => outcome,
        }
    }

    fn flat_row(&mut self, hint: &str, row: &str, out: &mut Decoded) -> Outcome {
        match json::fields(row) {
            Some(fields) => self.any_layout(hint, row, &fields, out),
            None => self.refuse(DropReason::InvalidJson, "row of a list", row.as_bytes()),
        }
    }
}

/// What became of the rows of one message together.
#[derive(Default)]
struct Total {
    rows: usize,
    jobs: usize,
    dropped: Option<DropReason>,
    only: Option<Outcome>,
    several: bool,
}

impl Total {
    fn add(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::Row => self.rows += 1,
            Outcome::Rows(rows, dropped) => {
                self.rows += rows;
                self.dropped = self.dropped.or(dropped);
            }
            Outcome::Jobs(jobs) => self.jobs += jobs,
            Outcome::Dropped(reason) => self.dropped = self.dropped.or(Some(reason)),
            Outcome::Skipped | Outcome::NeedsSchema(_) => {}
        }
        self.several |= self.only.is_some();
        self.only = Some(outcome);
    }

    fn outcome(self) -> Outcome {
        match self.only {
            Some(only) if !self.several => only,
            _ if self.rows > 0 => Outcome::Rows(self.rows, self.dropped),
            _ if self.jobs > 0 => Outcome::Jobs(self.jobs),
            _ => self.dropped.map_or(Outcome::Skipped, Outcome::Dropped),
        }
    }
}
