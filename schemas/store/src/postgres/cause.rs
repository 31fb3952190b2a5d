//! Causes of errors, each with its remedy: one list for the sentences of errors and for the findings of `tailback doctor`.

use super::tls::TlsError;
use std::error::Error as _;
use std::io::{self, ErrorKind};
use tokio_postgres::error::DbError;

/// Why the server cannot be used, by what to do about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cause {
    /// A setting is wrong; the text names it.
    Setting,
    /// No name service knows the host.
    UnknownHost,
    /// No server answers at the address.
    Unreachable,
    /// All connections of the server are taken.
    Full,
    /// The server may only be read.
    ReadOnly,
    /// A pooler gives each transaction another session.
    Pooler,
    /// The server offers no TLS, which `sslmode` demands.
    NoTls,
    /// The server's certificate is refused.
    Certificate,
    /// The server demands the password in clear text over a connection that is not encrypted.
    ClearTextPassword,
    /// The server demands a certificate of the client.
    ClientCertificate,
    /// The server refuses the client's certificate.
    RefusedClientCertificate,
    /// The server does not take part in the channel binding that the URL demands.
    ChannelBinding,
    /// No rule of the server admits the connection, which is not encrypted.
    NotEncrypted,
    /// No rule of the server admits the connection.
    NotAdmitted,
    /// The password is wrong or missing.
    Password,
    /// The account does not exist or may not log in.
    Account,
    /// The database does not exist.
    Database,
    /// The account may not use the database.
    DatabaseRight,
    /// The account may not create tables.
    SchemaRight,
    /// The account may not create roles that are missing.
    Roles,
    /// The account may not create the extension.
    Extension,
    /// The tables belong to another account.
    Owner,
    /// The account may not use the tables.
    TableRight,
    /// The account may not read all tables.
    ReaderRight,
    /// The tables are missing or another version's.
    Schema,
    /// Passes by itself.
    Passing,
    /// Anything else: the text contains the remedy, or there is none.
    Other,
}

impl Cause {
    /// Whether the account lacks a right on the tables.
    pub fn is_of_rights(self) -> bool {
        matches!(self, Cause::TableRight | Cause::ReaderRight | Cause::SchemaRight | Cause::Owner)
    }

    /// What to do, without a full stop; empty for [`Cause::Other`] and [`Cause::Setting`], whose texts contain it.
    pub fn remedy(self) -> &'static str {
        match self {
            Cause::Setting | Cause::Other => "",
            Cause::Passing => "trying again helps",
            Cause::UnknownHost => "correct the host in database.url, or the name service of this machine",
            Cause::Unreachable => {
                "start the server, or correct host and port in database.url; a firewall may lie between"
            }
            Cause::Full => {
                "raise max_connections at the server (or the limit of the account or the database), or end idle clients"
            }
            Cause::ReadOnly => {
                "let database.url name the primary; of several hosts target_session_attrs=read-write takes the one that may \
                 be written"
            }
            Cause::Pooler => {
                "let database.url name the server itself, or set pool_mode = session for this database in the pooler"
            }
            Cause::NoTls => {
                "turn `ssl` on in the server's postgresql.conf, or choose another sslmode in database.url"
            }
            Cause::Certificate => {
                "name the authority that signed it as database.tls_ca_file (or as sslrootcert in database.url) and the host \
                 as the certificate does; sslmode=require without them encrypts only"
            }
            Cause::ClearTextPassword => {
                "turn TLS or scram-sha-256 on at the server, or set sslmode=disable in database.url where the network may \
                 read it"
            }
            _ => self.remedy_of_account(),
        }
    }

    fn remedy_of_account(self) -> &'static str {
        match self {
            Cause::ClientCertificate => {
                "name the account's certificate and key as database.tls_cert_file and database.tls_key_file (or as sslcert \
                 and sslkey in database.url), and do not use sslmode=disable"
            }
            Cause::RefusedClientCertificate => {
                "use a certificate that the server's ssl_ca_file signed and whose common name is the user in database.url, as \
                 database.tls_cert_file"
            }
            Cause::ChannelBinding => {
                "use scram-sha-256 and TLS at the server, or channel_binding=prefer in database.url"
            }
            Cause::NotEncrypted => {
                "set sslmode=require or stricter in database.url, or add a line for this host, account and database to the \
                 server's pg_hba.conf"
            }
            Cause::NotAdmitted => {
                "add a line for this host, account and database to the server's pg_hba.conf"
            }
            Cause::Password => "correct the password in database.password_file, or the user in database.url",
            Cause::Account => "correct the user in database.url, or create the account: CREATE ROLE … LOGIN",
            Cause::Database => {
                "correct the database in database.url, or create it: CREATE DATABASE … OWNER …"
            }
            _ => self.remedy_of_rights(),
        }
    }

    fn remedy_of_rights(self) -> &'static str {
        match self {
            Cause::DatabaseRight => {
                "as the owner of the database: GRANT CONNECT ON DATABASE … TO the account in database.url"
            }
            Cause::SchemaRight => "run `tailback migrate` as the owner of the database",
            Cause::Roles => {
                "an administrator of the server runs these lines; then run `tailback migrate` again"
            }
            Cause::Extension => {
                "a superuser runs CREATE EXTENSION timescaledb in this database; then run `tailback migrate` again"
            }
            Cause::Owner => "run `tailback migrate` as the account that ran it first",
            Cause::TableRight => {
                "as the owner of the database: GRANT tailback_writer TO the account in database.url (tailback_reader where it \
                 only reads)"
            }
            Cause::ReaderRight => {
                "as the owner of the database: GRANT tailback_reader TO the account in database.url"
            }
            Cause::Schema => "run `tailback migrate` as the owner of the database",
            _ => "",
        }
    }

    /// The cause of an error of the server or of the connection.
    pub(super) fn of(error: &tokio_postgres::Error) -> Cause {
        match error.as_db_error() {
            Some(said) => of_server(said),
            None => of_client(error),
        }
    }

    /// Whether the same call may succeed later without intervention.
    pub(super) fn may_pass(self) -> bool {
        matches!(
            self,
            Cause::Passing | Cause::Full | Cause::ReadOnly | Cause::Unreachable | Cause::UnknownHost
        )
    }
}

fn of_server(said: &DbError) -> Cause {
    let text = said.message();
    match said.code().code() {
        "28P01" => Cause::Password,
        code if code.starts_with("28") => of_login(text),
        "3D000" => Cause::Database,
        "42501" => of_right(text),
        "42P01" | "42703" | "42883" => Cause::Schema,
        "53300" => Cause::Full,
        "25006" => Cause::ReadOnly,
        code if passes(code) => Cause::Passing,
        _ => Cause::Other,
    }
}

/// A refused login; all refusals share a code.
fn of_login(text: &str) -> Cause {
    let has = |words: &str| text.contains(words);
    if has("valid client certificate") {
        Cause::ClientCertificate
    } else if has("certificate authentication failed") || has("\"trust\" authentication failed") {
        // A rule that trusts fails by the name in the certificate alone.
        Cause::RefusedClientCertificate
    } else if has("pg_hba.conf") && has("no encryption") {
        Cause::NotEncrypted
    } else if has("pg_hba.conf") {
        Cause::NotAdmitted
    } else if has("does not exist") || has("not permitted to log in") {
        Cause::Account
    } else {
        Cause::Password
    }
}

/// A missing right; all of them share a code.
fn of_right(text: &str) -> Cause {
    let has = |words: &str| text.contains(words);
    if has("for database") {
        Cause::DatabaseRight
    } else if has("for schema") {
        Cause::SchemaRight
    } else if has("create role") {
        Cause::Roles
    } else if has("extension") {
        Cause::Extension
    } else if has("must be owner") {
        Cause::Owner
    } else {
        Cause::TableRight
    }
}

/// Whether a state of SQL passes by itself: connections (08), resources and disk (53), an operator's stop (57), locks (55P03),
/// serialization and deadlock (40), the system (58).
pub(super) fn passes(code: &str) -> bool {
    ["08", "53", "57P", "40", "58"].iter().any(|class| code.starts_with(class))
        || code == "55P03"
        || code == "57014"
}

/// Errors on this side: a closed or broken connection passes, anything else is a mistake.
fn of_client(error: &tokio_postgres::Error) -> Cause {
    if let Some(refused) = TlsError::of(error) {
        return refused.cause();
    }
    let text = sentence(error);
    let causes = std::iter::successors(error.source(), |&cause| cause.source());
    let io = causes.filter_map(|cause| cause.downcast_ref::<io::Error>()).next();
    if text.contains("channel binding") {
        Cause::ChannelBinding
    } else if text.contains("password missing") {
        Cause::Password
    } else if is_alert_about_certificate(&text) {
        Cause::RefusedClientCertificate
    } else if let Some(io) = io {
        of_io(io)
    } else if text.starts_with("timeout waiting for server") {
        Cause::Unreachable
    } else if error.is_closed() || is_connect(&text) {
        Cause::Passing
    } else {
        Cause::Other
    }
}

/// The error with its cause.
pub(super) fn sentence(error: &tokio_postgres::Error) -> String {
    let cause = error.source().map(|cause| format!(": {cause}")).unwrap_or_default();
    format!("{error}{cause}")
}

fn of_io(error: &io::Error) -> Cause {
    match error.kind() {
        ErrorKind::ConnectionRefused
        | ErrorKind::HostUnreachable
        | ErrorKind::NetworkUnreachable
        | ErrorKind::NotFound
        | ErrorKind::TimedOut => Cause::Unreachable,
        // The library's own, for the last of several hosts.
        ErrorKind::PermissionDenied if error.to_string().contains("does not allow writes") => Cause::ReadOnly,
        _ if error.to_string().contains("failed to lookup address") => Cause::UnknownHost,
        _ => Cause::Passing,
    }
}

/// Whether the other side closed the connection without a reason.
pub(super) fn is_cut(error: &tokio_postgres::Error) -> bool {
    let mut causes = std::iter::successors(error.source(), |&cause| cause.source());
    let kinds = [ErrorKind::ConnectionReset, ErrorKind::BrokenPipe, ErrorKind::UnexpectedEof];
    error.is_closed()
        || causes.any(|cause| cause.downcast_ref::<io::Error>().is_some_and(|io| kinds.contains(&io.kind())))
}

/// Whether the server ended the handshake because of the client's certificate.
fn is_alert_about_certificate(text: &str) -> bool {
    text.contains(" alert ") && (text.contains("certificate") || text.contains("unknown ca"))
}

/// Whether the connection broke. A server that goes away within the TLS handshake leaves an end of file; one whose certificate
/// is refused, something else.
fn is_connect(text: &str) -> bool {
    let handshake_cut =
        text.starts_with("error performing TLS handshake") && text.ends_with("unexpected EOF");
    handshake_cut
        || ["error connecting to server", "error communicating"].iter().any(|known| text.starts_with(known))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn causes_of_one_code_have_their_own_remedies() {
        let login = [
            (
                "no pg_hba.conf entry for host \"::1\", user \"a\", database \"b\", no encryption",
                "sslmode=require",
            ),
            (
                "no pg_hba.conf entry for host \"::1\", user \"a\", database \"b\", SSL encryption",
                "add a line",
            ),
            ("connection requires a valid client certificate", "database.tls_cert_file"),
            ("certificate authentication failed for user \"a\"", "common name"),
            ("\"trust\" authentication failed for user \"a\"", "common name"),
            ("role \"a\" does not exist", "CREATE ROLE"),
            ("role \"a\" is not permitted to log in", "LOGIN"),
            ("Peer authentication failed for user \"a\"", "password_file"),
        ];
        for (text, remedy) in login {
            assert!(of_login(text).remedy().contains(remedy), "{text}: {:?}", of_login(text));
        }
        let rights = [
            ("permission denied for database site", "GRANT CONNECT"),
            ("permission denied for schema public", "owner of the database"),
            ("permission denied to create role", "administrator"),
            ("permission denied to create extension \"timescaledb\"", "CREATE EXTENSION"),
            ("must be owner of table jobs", "ran it first"),
            ("permission denied for table jobs", "GRANT tailback_writer"),
        ];
        for (text, remedy) in rights {
            assert!(of_right(text).remedy().contains(remedy), "{text}: {:?}", of_right(text));
        }
    }

    #[test]
    fn an_unknown_host_is_not_an_unreachable_one() {
        let kind = |kind| of_io(&io::Error::from(kind));
        assert_eq!(kind(ErrorKind::ConnectionRefused), Cause::Unreachable);
        assert_eq!(kind(ErrorKind::TimedOut), Cause::Unreachable);
        assert_eq!(kind(ErrorKind::BrokenPipe), Cause::Passing);
        let unknown = io::Error::other("failed to lookup address information: Name or service not known");
        assert_eq!(of_io(&unknown), Cause::UnknownHost);
    }
}
