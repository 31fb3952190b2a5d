//! `tailback generate`: completions of shells and man pages, for packages. Made of the arguments themselves.

use anyhow::Context;
use clap::Command;
use clap_complete::Shell;
use std::path::{Path, PathBuf};

/// Shells with completions.
const SHELLS: [Shell; 3] = [Shell::Bash, Shell::Zsh, Shell::Fish];

/// Where to write
#[derive(Debug, clap::Args)]
pub struct GenerateArgs {
    /// Folder for completions/ and man/
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

/// Writes completions and man pages of `program`.
///
/// # Errors
/// The disk's.
pub fn run(args: &GenerateArgs, mut program: Command) -> anyhow::Result<()> {
    let (completions, man) = (args.out.join("completions"), args.out.join("man"));
    for folder in [&completions, &man] {
        std::fs::create_dir_all(folder).with_context(|| format!("{} cannot be made", folder.display()))?;
    }
    for shell in SHELLS {
        clap_complete::generate_to(shell, &mut program, "tailback", &completions)
            .with_context(|| format!("the completions of {shell} cannot be written"))?;
    }
    program.build();
    write_page(&program, &man)
}

/// A page of the command and one of each below it.
fn write_page(command: &Command, folder: &Path) -> anyhow::Result<()> {
    clap_mangen::Man::new(command.clone())
        .generate_to(folder)
        .with_context(|| format!("the man page of {} cannot be written", command.get_name()))?;
    let shown = |below: &&Command| !below.is_hide_set() && below.get_name() != "help";
    command.get_subcommands().filter(shown).try_for_each(|below| write_page(below, folder))
}
