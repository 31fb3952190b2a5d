//! The database server, judged.

use crate::facts::database::Refusal;
use crate::finding::{Finding, Group, Notes};
use crate::words::{bytes, few, span};
use configuration::RunConfig;
use store::read::doctor::Server;

/// Oldest version that the migrations work on.
const VERSION_LEAST: i32 = 150_000;

/// The server as such: version, rights, safety, settings. Its clock is `ahead_s` ahead of this machine's.
pub fn check(config: &RunConfig, server: &Server, ahead_s: f64) -> Vec<Finding> {
    let mut notes = Notes::of(Group::Database, "server");
    let major = server.version / 10_000;
    match server.version >= VERSION_LEAST {
        true => notes.ok(format!("PostgreSQL {major} answers; the database holds {}", bytes(server.bytes))),
        false => notes.error(format!("PostgreSQL {major} is too old"), "upgrade the server to 15 or newer"),
    }
    if server.standby {
        notes.error(
            "the server is a standby: nothing can be written",
            "let database.url name the primary; of several hosts target_session_attrs=read-write takes it",
        );
    } else if server.read_only {
        notes.error(
            format!("sessions of {} are read-only: nothing can be written", server.user),
            "turn default_transaction_read_only off for the account, the database or the server, or name another server",
        );
    }
    if !server.crash_safe {
        notes.warn(
            "fsync or full_page_writes is off: a crash may destroy the database",
            "as a superuser: ALTER SYSTEM SET fsync = on; ALTER SYSTEM SET full_page_writes = on; SELECT pg_reload_conf(); a \
             managed server may do without them where its storage writes whole pages",
        );
    }
    if server.connections * 10 > server.connections_max * 9 {
        notes.warn(
            format!("{} of {} connections are in use", server.connections, server.connections_max),
            "raise max_connections, or end idle clients",
        );
    }
    if ahead_s.abs() > config.doctor.skew_warn_s.max(0.5) {
        let side = if ahead_s > 0.0 { "ahead of" } else { "behind" };
        notes.warn(
            format!("the server's clock is {} {side} this machine's", span(ahead_s)),
            "`chronyc tracking` on both machines",
        );
    }
    rights(server, &mut notes);
    settings(config, server, &mut notes);
    notes.done()
}

/// Nothing without tables: `tailback migrate`, which makes them, makes roles and rights as well.
fn rights(server: &Server, notes: &mut Notes) {
    if !server.migrated {
        return;
    }
    let missing: Vec<&str> = ["tailback_reader", "tailback_user", "tailback_writer"]
        .into_iter()
        .filter(|role| server.roles.iter().all(|there| there != role))
        .collect();
    if !missing.is_empty() {
        let lines: Vec<String> = missing.iter().map(|role| format!("CREATE ROLE {role} NOLOGIN;")).collect();
        notes.error(
            format!("roles are missing: {}", few(&missing, 3)),
            format!(
                "as an administrator: {} then restore their grants (docs/operations.md)",
                lines.join(" ")
            ),
        );
    } else if server.may_write {
        notes.ok(format!("the roles exist, and {} may write results", server.user));
    } else {
        notes.error(
            format!("{} may not write results", server.user),
            format!(
                "as the owner of the database: GRANT tailback_writer TO \"{}\";",
                server.user.replace('"', "\"\"")
            ),
        );
    }
}

fn settings(config: &RunConfig, server: &Server, notes: &mut Notes) {
    match config.database.synchronous_commit {
        true => notes.ok("each commit waits for the server's disk (database.synchronous_commit)"),
        false => notes.ok(
            "commits do not wait for the server's disk: a crash of it costs the last second of work, which is done again",
        ),
    }
    let (buffers, wal) = (server.shared_buffers, server.max_wal_size);
    let settings = format!("shared_buffers {}, max_wal_size {}", bytes(buffers), bytes(wal));
    match buffers < 256 << 20 || wal < 2 << 30 {
        true => notes.advise(
            format!("{settings}: less than a large machine needs"),
            "for more than a few thousand nodes: ALTER SYSTEM SET shared_buffers = '2GB' (needs a restart), max_wal_size = '8GB'",
        ),
        false => notes.ok(settings),
    }
}

/// What it means that no server answers.
pub fn silent(refusal: &Refusal) -> Vec<Finding> {
    let mut notes = Notes::of(Group::Database, "server");
    let mend = if refusal.mend.is_empty() { "follow the error, then run doctor again" } else { refusal.mend };
    notes.error(refusal.why.as_str(), mend);
    notes.unknown("tables, policies and roles, since the database does not answer");
    notes.done()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Level;

    fn config() -> RunConfig {
        RunConfig::load(None).unwrap()
    }

    fn good() -> Server {
        Server {
            version: 150_004,
            user: "tailback".into(),
            connections_max: 100,
            crash_safe: true,
            roles: ["tailback_reader", "tailback_user", "tailback_writer"].map(String::from).to_vec(),
            may_write: true,
            migrated: true,
            ..Server::default()
        }
    }

    fn worst(findings: &[Finding]) -> Level {
        findings.iter().map(|finding| finding.level).max().unwrap()
    }

    #[test]
    fn what_makes_the_server_useless_is_an_error() {
        assert_eq!(worst(&check(&config(), &good(), 0.0)), Level::Ok);
        let broken = [
            Server { version: 140_000, ..good() },
            Server { standby: true, ..good() },
            Server { read_only: true, ..good() },
            Server { may_write: false, ..good() },
            Server { roles: Vec::new(), ..good() },
        ];
        for server_facts in broken {
            assert_eq!(worst(&check(&config(), &server_facts, 0.0)), Level::Error, "{server_facts:?}");
        }
    }

    #[test]
    fn what_a_managed_server_may_lack_is_a_warning() {
        let unsafe_server = Server { crash_safe: false, ..good() };
        assert_eq!(worst(&check(&config(), &unsafe_server, 0.0)), Level::Warn);
        let empty = Server { migrated: false, may_write: false, roles: Vec::new(), ..good() };
        assert_eq!(
            worst(&check(&config(), &empty, 0.0)),
            Level::Ok,
            "the missing tables are a finding of their own"
        );
    }
}
