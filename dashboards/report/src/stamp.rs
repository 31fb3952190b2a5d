//! Which program wrote a report, when, and where the job is on the page.

use crate::numbers::utc;
use schemas::Time;

/// Which program wrote a report, when, and where the page is.
#[derive(Clone, Debug, PartialEq)]
pub struct Stamp {
    /// Version of the program.
    pub version: &'static str,
    /// When the report is written.
    pub written: Time,
    /// Address of the page, without a hash; `None` where it is not known.
    pub page: Option<String>,
}

impl Stamp {
    /// The job's own address on the page.
    pub(crate) fn permalink(&self, job_id: &str) -> Option<String> {
        let page = self.page.as_deref()?.trim_end_matches('/');
        Some(format!("{page}/#/job/{}", encoded(job_id)))
    }

    /// Version and date.
    pub(crate) fn origin(&self) -> String {
        format!("Tailback {}, written {}", self.version, utc(self.written))
    }
}

/// Numbers of jobs are ASCII; what an address may not hold is percent-encoded.
fn encoded(text: &str) -> String {
    let keeps = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte);
    text.bytes().map(|b| if keeps(b) { char::from(b).to_string() } else { format!("%{b:02X}") }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn permalink_is_the_address_of_the_job() {
        let of = |page: &str| Stamp { version: "1", written: Time(0), page: Some(page.to_string()) };
        let found = of("https://tb.example/").permalink("1234+0");
        assert_eq!(found.as_deref(), Some("https://tb.example/#/job/1234%2B0"));
        assert_eq!(Stamp { page: None, ..of("") }.permalink("1"), None);
    }
}
