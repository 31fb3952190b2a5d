//! A post-mortem as a mail: headers, and the page as plain text.

use crate::{PostMortem, Stamp};

/// Columns of a mail (RFC 5322, 2.1.1).
const WIDTH: usize = 78;

impl PostMortem {
    /// Headers, an empty line, the page; for `sendmail -t` once a recipient is put before it.
    pub fn mail(&self, stamp: &Stamp) -> String {
        let job = &self.job.job_id;
        format!(
            "Subject: Job {job}: {}\nMIME-Version: 1.0\nContent-Type: text/plain; charset=utf-8\n\
             Content-Transfer-Encoding: 8bit\n\n{}",
            self.comment(),
            self.text(WIDTH, false, stamp)
        )
    }
}
