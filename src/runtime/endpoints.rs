//! What a process answers over HTTP: metrics and health; from the database, where a stage writes it. What it takes: the progress of
//! jobs; where the aggregator runs also job events. Over a Unix socket there, too.

use super::http::Health;
use super::intake::Intake;
use super::stop::Control;
use super::{clock, limits, silences, socket};
use anyhow::Context;
use axum::Router;
use configuration::RunConfig;
use configuration::host_name;
use configuration::sections::Http;
use configuration::stage::Stage;
use dashboards::access::Access;
use dashboards::connections;
use dashboards::contention::{Gate, Reporters};
use dashboards::job_token::JobKeys;
use dashboards::login::{Login, Right};
use dashboards::process::Process;
use dashboards::router::Shown;
use dashboards::{Page, Progress, ServerConfig, Source};
use metrics_exporter_prometheus::PrometheusHandle;
use schemas::secret::Redacted;
use stages::labels;
use std::net::SocketAddr;
use std::sync::Arc;
use store::outbox::OutboxStore;
use tokio::sync::watch;

/// The answer to what is posted where neither a token nor a socket is configured for it.
const CLOSED: &str = "posting is closed: set http.jobs_token_file or http.token_file and send the token as \
    Authorization: Bearer ..., or set http.socket and post over that Unix socket; a job reports its progress with its own token \
    (http.job_token_key_file)";

/// Starts the HTTP server and, where job events are taken, the Unix socket.
///
/// # Errors
/// An address or a path that cannot be listened on.
pub async fn serve(
    config: &RunConfig,
    intake: &Intake,
    metrics: PrometheusHandle,
    health: &Health,
    control: &Control,
) -> anyhow::Result<SocketAddr> {
    let stop = || {
        let control = control.clone();
        async move { control.wait().await }
    };
    let http = &config.http;
    let login = Arc::new(Login::new(tokens(http)));
    let job_keys = JobKeys::of(http.job_token_keys.as_ref());
    let page = page(config);
    let shows_all = page.as_ref().is_some_and(|page| page.shown == Shown::Everything);
    let mut posts = posts(config, intake, &job_keys);
    if shows_all {
        let settings = config.database.pg_settings();
        posts = posts
            .merge(silences::router(&login, Arc::new(move || Ok(OutboxStore::server(settings.clone())))));
    }
    let server = dashboards::bind(ServerConfig {
        listen: http.listen,
        hosts: names(http),
        read: to_read(http, &login),
        login,
        page,
        job_keys,
        process: Some(process(config, metrics, health)),
        posts: Some(posts),
        frame_ancestors: http.frame_ancestors.clone(),
    });
    let server =
        server.await.with_context(|| format!("http.listen {} cannot be listened on", http.listen))?;
    if aggregates(config) {
        let Intake { jobs, progress, .. } = intake.clone();
        let routes = |access: Access| {
            let progress = progress.router(server.reporters(access.clone()));
            jobs.router(access.clone()).merge(progress).merge(server.contention_routes(access))
        };
        socket::serve(http, routes, stop())?;
    }
    let (address, stop) = (server.address(), stop());
    tokio::spawn(async move {
        let (_progress, ticks) = watch::channel(Progress::default());
        server.serve(ticks, stop).await;
    });
    Ok(address)
}

fn aggregates(config: &RunConfig) -> bool {
    config.run.stages.contains(&Stage::Aggregator)
}

/// Metrics and health.
fn process(config: &RunConfig, metrics: PrometheusHandle, health: &Health) -> Process {
    let (health, topics) = (health.clone(), config.limits.metric_topics);
    Process {
        metrics: Arc::new(move || {
            let (open, most) = (connections::open(), connections::connections_max());
            limits::note("http_connections", open, most);
            limits::note("metric_topics", labels::used(), topics);
            metrics.render()
        }),
        health: Arc::new(move |ready| health.text(ready)),
    }
}

/// What is taken from holders of tokens: the progress of jobs in each process, since jobs do not know which stages run at their address;
/// job events where the aggregator runs.
fn posts(config: &RunConfig, intake: &Intake, job_keys: &JobKeys) -> Router {
    let reporters = Reporters::new(Gate::new(to_post(&config.http), job_keys.clone()), None);
    let progress = intake.progress.clone().router(reporters);
    match aggregates(config) {
        true => progress.merge(intake.jobs.clone().router(to_post(&config.http))),
        false => progress,
    }
}

/// What is answered from the database, where a stage of this process writes it. Without a token every user of this machine
/// may read: no more than what a scheduler needs.
fn page(config: &RunConfig) -> Option<Page> {
    let shown = if config.http.token.is_some() { Shown::Everything } else { Shown::Advice };
    let writes = config.run.stages.iter().any(|stage| *stage != Stage::Aggregator);
    writes.then(|| Page {
        store: Source::Database(Box::new(config.database.pg_settings())),
        run_note: None,
        public_url: config.http.page(),
        clock: Some(Arc::new(|| clock::now().seconds())),
        shown,
    })
}

/// The tokens of readers and of those who silence, each with no more than its right.
fn tokens(http: &Http) -> Vec<(Redacted, Right)> {
    let given = [(&http.token, Right::Read), (&http.silence_token, Right::Change)];
    given.into_iter().filter_map(|(token, right)| Some((token.clone()?, right))).collect()
}

/// Who may read: holders of a token and of sessions that were made with one; without a token every user of this machine.
fn to_read(http: &Http, login: &Arc<Login>) -> Access {
    if http.token.is_some() { Access::Login(Arc::clone(login), Right::Read) } else { Access::Open }
}

/// Who may post: holders of the token for jobs or of the common one; without either, no request.
fn to_post(http: &Http) -> Access {
    let token = http.jobs_token.as_ref().or(http.token.as_ref());
    token.map_or(Access::Closed(CLOSED), |token| Access::by(Some(token)))
}

/// The configured names of the server, and that of this machine where others reach it.
fn names(http: &Http) -> Vec<String> {
    let mut names = http.hosts.clone();
    if !http.listen.ip().is_loopback() {
        names.push(host_name());
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_token_of_readers_does_not_silence() {
        let mut http = RunConfig::load(None).unwrap().http;
        http.token = Some(Redacted::new("a-token-to-read-with".into()));
        let right = |http: &Http| Login::new(tokens(http)).highest_right();
        assert_eq!(right(&http), Some(Right::Read));
        http.silence_token = Some(Redacted::new("a-token-to-silence-with".into()));
        assert_eq!(
            tokens(&http).iter().map(|(_, right)| *right).collect::<Vec<_>>(),
            [Right::Read, Right::Change]
        );
    }
}
