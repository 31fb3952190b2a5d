//! The Unix socket of `http.socket`: job events from processes of this machine, without a token, and questions and reports of jobs. The kernel
//! names the user of each connection: root, the user of `tailback run` and those of `http.socket_users` may post and read for all jobs, other
//! users may ask and report for own jobs.

use anyhow::{Context, bail, ensure};
use axum::{Router, middleware};
use configuration::sections::Http;
use dashboards::access::Access;
use dashboards::connections::{self, PeerUid};
use dashboards::guard::{Hosts, refuse_foreign};
use std::net::{Ipv4Addr, SocketAddr};
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::path::Path;
use tokio::net::{UnixListener, UnixStream};

/// Everyone may connect; the user decides.
const MODE: u32 = 0o666;

/// Serves `router` on the socket of `config` until `stop` is done, if there is one.
///
/// # Errors
/// A path that cannot be bound or is in use, or a user that does not exist.
pub fn serve(
    config: &Http,
    router: impl FnOnce(Access) -> Router,
    stop: impl Future<Output = ()> + Send + 'static,
) -> anyhow::Result<()> {
    let path = config.socket.as_path();
    if path.as_os_str().is_empty() {
        return Ok(());
    }
    let named = || format!("http.socket {}", path.display());
    remove_stale(path).with_context(named)?;
    let listener = UnixListener::bind(path).with_context(named)?;
    std::fs::set_permissions(path, PermissionsExt::from_mode(MODE)).with_context(named)?;
    let own = std::fs::metadata(path).with_context(named)?.uid();
    let passwd = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    let mut users = vec![0, own];
    for user in &config.socket_users {
        users.push(uid(user, &passwd)?);
    }
    let hosts = Hosts::of(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), &config.hosts);
    let router =
        router(Access::Users(users.into())).layer(middleware::from_fn_with_state(hosts, refuse_foreign));
    let peer = |stream: &UnixStream| stream.peer_cred().ok().map(|cred| PeerUid(cred.uid()));
    tokio::spawn(connections::serve(listener, router, peer, stop));
    Ok(())
}

/// Removes the socket of a process that ended.
fn remove_stale(path: &Path) -> anyhow::Result<()> {
    let Ok(found) = std::fs::symlink_metadata(path) else { return Ok(()) };
    ensure!(found.file_type().is_socket(), "the path exists and is not a socket");
    if std::os::unix::net::UnixStream::connect(path).is_ok() {
        bail!("another process listens there");
    }
    std::fs::remove_file(path).context("the old socket cannot be removed")
}

/// The number of a user given by number or by name.
fn uid(user: &str, passwd: &str) -> anyhow::Result<u32> {
    let named = |line: &str| {
        let mut fields = line.split(':');
        (fields.next() == Some(user)).then(|| fields.nth(1)?.parse().ok()).flatten()
    };
    let found = user.parse().ok().or_else(|| passwd.lines().find_map(named));
    found.with_context(|| format!("http.socket_users: /etc/passwd has no user {user:?}; give its number"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use configuration::RunConfig;
    use dashboards::router::Shown;
    use dashboards::{Page, Progress, ServerConfig};
    use tokio::sync::watch;

    #[test]
    fn users_are_names_or_numbers() {
        let passwd = "root:x:0:0:root:/root:/bin/sh\nslurm:x:64030:64030::/nonexistent:/bin/false\n";
        assert_eq!(uid("slurm", passwd).unwrap(), 64_030);
        assert_eq!(uid("1007", passwd).unwrap(), 1_007);
        let refused = uid("slur", passwd).unwrap_err().to_string();
        assert!(refused.contains("no user \"slur\""), "{refused}");
    }

    #[tokio::test]
    async fn jobs_ask_over_the_socket() {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("socket");
        let page = Page {
            store: folder.path().join("none.db").into(),
            run_note: None,
            clock: None,
            public_url: None,
            shown: Shown::Advice,
        };
        let server = ServerConfig::page(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), page);
        let server = dashboards::bind(server).await.unwrap();
        let http = Http { socket: socket.clone(), ..RunConfig::load(None).unwrap().http };
        serve(&http, |access| server.contention_routes(access), std::future::pending()).unwrap();
        let (_progress, ticks) = watch::channel(Progress::default());
        tokio::spawn(server.serve(ticks, std::future::pending()));
        let client = reqwest::Client::builder().unix_socket(socket).build().unwrap();
        let answer = client.get("http://localhost/api/v1/jobs/7/contention").send().await.unwrap();
        // The owner of the socket may read all answers, and there is no store yet.
        assert_eq!(answer.status(), 503);
        assert!(answer.text().await.unwrap().contains("no data yet"));
    }

    #[test]
    fn only_a_socket_without_a_listener_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let (file, socket) = (folder.path().join("file"), folder.path().join("socket"));
        std::fs::write(&file, "kept").unwrap();
        assert!(remove_stale(&file).is_err() && file.exists());
        let listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        assert!(remove_stale(&socket).is_err());
        drop(listener);
        remove_stale(&socket).unwrap();
        assert!(!socket.exists());
    }
}
