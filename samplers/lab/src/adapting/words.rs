//! What jobs saved that ask, as lines and as a table.

use super::saved::Adapted;
use schemas::html::escape;
use std::io::Write;

/// What the jobs of a case saved that ask.
pub(crate) fn in_words(name: &str, adapted: &Adapted, out: &mut impl Write) -> anyhow::Result<()> {
    writeln!(out, "  case {name}, {} seeds", adapted.seeds.len())?;
    for [job, silent, saved, interval, least, late, waited] in lines(adapted) {
        writeln!(
            out,
            "    job {job}: {silent} s without asking; asking saves {saved} s ({interval}), at least {least} s; \
             writes end after {late} s at most; waited {waited} s"
        )?;
    }
    Ok(())
}

/// The same as a table of a page.
pub(crate) fn table(adapted: &Adapted) -> String {
    let row = |line: [String; 7]| {
        let cells = line.iter().map(|cell| format!("<td>{}</td>", escape(cell)));
        format!("<tr>{}</tr>\n", cells.collect::<String>())
    };
    format!(
        "<p>{} seeds. Bars: the first of them.</p>\n<table><tr><th>job</th><th>run without asking (s)</th>\
         <th>saved by asking (s)</th><th>95%</th><th>least (s)</th><th>longest to the end of a write (s)</th>\
         <th>waited (s)</th></tr>\n{}</table>",
        adapted.seeds.len(),
        lines(adapted).map(row).collect::<String>()
    )
}

/// Job, run time without asking, saved, its interval, the least of one seed, longest to the end of a write, waited.
fn lines(adapted: &Adapted) -> impl Iterator<Item = [String; 7]> {
    adapted.jobs.iter().map(|job| {
        let interval = job.saved_lo_s.zip(job.saved_hi_s);
        [
            job.job_id.to_string(),
            format!("{:.0}", job.silent_s),
            format!("{:.1}", job.saved_s),
            interval.map_or("no interval of so few seeds".to_string(), |(lo_s, hi_s)| {
                format!("{lo_s:.1} to {hi_s:.1}")
            }),
            format!("{:.1}", job.saved_least_s),
            format!("{:.0}", job.late_s),
            format!("{:.1}", job.waited_s),
        ]
    })
}
