//! `tailback ldms-config`: the configuration of a site's ldmsd, from its site file.

use anyhow::Context;
use clap::Args;
use schemas::Site;
use std::io::Write;
use std::path::PathBuf;

/// Which site, and where to.
#[derive(Debug, Args)]
pub struct LdmsConfigArgs {
    /// The site file (TOML): hosts, roles, aggregators, broker
    #[arg(long, value_name = "FILE")]
    pub site: PathBuf,
    /// Folder for the files; made if it is not there
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// Write over files that were not written by this command, or were changed since
    #[arg(long)]
    pub force: bool,
}

/// Reads the site file, generates, writes.
///
/// # Errors
/// What is wrong with the site, a sentence for each key; a file that this command did not write.
pub fn run(args: &LdmsConfigArgs, out: &mut impl Write) -> anyhow::Result<()> {
    let shown = args.site.display();
    let text = std::fs::read_to_string(&args.site).with_context(|| format!("{shown} cannot be read"))?;
    let site = Site::parse(&text).map_err(|error| {
        let lines: Vec<String> = error.0.iter().map(|problem| format!("{shown}: {problem}")).collect();
        anyhow::anyhow!("{}", lines.join("\n"))
    })?;
    for warning in &site.warnings {
        writeln!(out, "warning: {shown}: {warning}")?;
    }
    let count = ldmsd::write(&site, &args.out, args.force)?;
    writeln!(out, "{count} files for {} in {}; start with its README.md", site.name, args.out.display())?;
    Ok(out.flush()?)
}
