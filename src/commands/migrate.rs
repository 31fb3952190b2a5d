//! `tailback migrate`: the database's schema, brought up to this version.

use anyhow::Context;
use clap::Args;
use configuration::RunConfig;
use std::io::Write;
use std::path::PathBuf;
use store::postgres::{self, PgStore};
use topology::{link_places, node_places};

/// What to migrate.
#[derive(Debug, Args)]
pub struct MigrateArgs {
    /// Configuration (TOML); `tailback config` prints the defaults
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Only print which migrations are missing
    #[arg(long)]
    pub dry_run: bool,
    /// Forget how far Kafka's topics were read, and the models' states, after topics were created again: they are then read
    /// from their beginning, and rows that are still in them count again
    #[arg(long, conflicts_with = "dry_run")]
    pub forget_positions: bool,
}

/// Migrates.
///
/// # Errors
/// A database that does not answer or does not allow it.
pub fn run(args: &MigrateArgs, out: &mut impl Write) -> anyhow::Result<()> {
    let config = RunConfig::load(args.config.as_deref())?;
    let settings = config.database.pg_settings();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        if args.dry_run {
            let missing = postgres::pending(&settings).await?;
            for name in &missing {
                writeln!(out, "missing {name}")?;
            }
            return Ok(writeln!(out, "{} migrations are missing", missing.len())?);
        }
        let applied = postgres::migrate(&settings).await?;
        for migration in &applied {
            writeln!(out, "applied {}", migration.name)?;
        }
        if applied.is_empty() {
            writeln!(out, "nothing to do: the schema is up to date")?;
        }
        if !config.site.topology.is_empty() {
            let topology = topology::readers::read(&config.site.topology)?.topology;
            let (places, links) = (node_places(&topology), link_places(&topology));
            postgres::put_places(&settings, &places).await?;
            postgres::put_links(&settings, &links).await?;
            writeln!(
                out,
                "wrote the switches of {} places of nodes, and {} links",
                places.len(),
                links.len()
            )?;
        }
        if args.forget_positions {
            let mut store = PgStore::connect(&settings).await?;
            let forgotten = store.forget_positions().await.context("positions cannot be forgotten")?;
            writeln!(out, "forgot the positions of {forgotten} partitions")?;
        }
        Ok(())
    })
}
