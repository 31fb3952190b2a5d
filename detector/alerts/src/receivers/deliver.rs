//! The task of one receiver: leases what is due, sends it, records the outcome. A receiver that is down or slow delays no
//! other receiver.

use super::client::{self, ClientError};
use super::http::Refusal;
use super::pace::{self, Bucket, Random};
use super::receiver::{Kind, Receiver};
use super::{alertmanager, notice_metrics, slurm, webhook};
use crate::silence;
use reqwest::Client;
use schemas::AlertSilence;
use schemas::NoticeKind;
use std::sync::Arc;
use std::time::Duration;
use store::outage::{LINE_EVERY, Outage};
use store::outbox::{Leased, OutboxError, OutboxStore, PutBack};

/// Notices of one receiver that are sent at once; each of another incident.
const AT_ONCE: usize = 8;
/// Seconds that a lease lasts beyond the time limit of a request.
const LEASE_S: f64 = 20.0;
/// Seconds after which silenced notices are looked at again.
const HELD_S: f64 = 5.0;
/// Seconds between two looks at what the outbox holds, and two cleanings of it.
const COUNTED_S: f64 = 5.0;
const CLEANED_S: f64 = 3_600.0;
/// Wait before the next try when the outbox did not answer.
const RETRY_DELAY: Duration = Duration::from_secs(2);

/// What a person has to do about a notice that was given up.
const DEAD: &str = "the notice is a dead letter: run `tailback alerts retry` to send it again";

/// The clock: seconds since the epoch.
pub type Clock = Arc<dyn Fn() -> f64 + Send + Sync>;

/// The way to one receiver.
pub struct Deliverer {
    receiver: Arc<Receiver>,
    outbox: OutboxStore,
    client: Client,
    clock: Clock,
    random: Random,
    bucket: Bucket,
    /// Name of this process, on leases.
    by: String,
    paused_until_s: f64,
    counted_s: f64,
    cleaned_s: f64,
    keep_s: f64,
    outages: Outages,
}

/// What fails of one receiver.
struct Outages {
    /// Tries that will be repeated.
    tries: Outage,
    /// Notices that were given up.
    dead: Outage,
    /// Marks in Slurm.
    marks: Outage,
    /// The outbox, for another reason than its connection.
    outbox: Outage,
}

impl Outages {
    fn of(receiver: &str) -> Outages {
        let of = |what| Outage::new(what).quiet_for(LINE_EVERY).of_receiver(receiver);
        Outages {
            tries: of("notice delivery"),
            dead: of("notice delivery").as_error(DEAD, "makes no more dead letters"),
            marks: of("taking back of marks"),
            outbox: of("outbox"),
        }
    }

    /// Ends those that are over.
    fn look(&self) {
        // No notice was given up since the last turn; those before stay dead letters.
        self.dead.works();
        [&self.tries, &self.marks, &self.outbox].into_iter().for_each(Outage::settle);
    }
}

impl Deliverer {
    /// A way that was not gone yet. Incidents that were over are forgotten after `keep_s` seconds.
    ///
    /// # Errors
    /// A CA file that cannot be read.
    pub fn new(
        receiver: Receiver,
        outbox: OutboxStore,
        by: &str,
        keep_s: f64,
        clock: Clock,
        random: Random,
    ) -> Result<Deliverer, ClientError> {
        let now_s = clock();
        Ok(Deliverer {
            client: client::client(&receiver)?,
            bucket: Bucket::new(receiver.max_per_minute, now_s),
            outages: Outages::of(&receiver.name),
            receiver: Arc::new(receiver),
            outbox,
            clock,
            random,
            by: by.to_string(),
            paused_until_s: 0.0,
            counted_s: 0.0,
            cleaned_s: now_s,
            keep_s,
        })
    }

    /// Delivers until `stop` is done; a request that is on its way is waited for.
    pub async fn run(mut self, poll: Duration, stop: impl Future<Output = ()>) {
        tokio::pin!(stop);
        loop {
            let turned = self.turn().await;
            self.note_outbox(turned.as_ref().err());
            let wait = match turned {
                Ok(0) => poll,
                Ok(_) => Duration::ZERO,
                Err(_) => RETRY_DELAY,
            };
            tokio::select! {
                () = tokio::time::sleep(wait) => {}
                () = &mut stop => return,
            }
        }
    }

    fn note_outbox(&self, error: Option<&OutboxError>) {
        match error {
            Some(error) if error.is_retryable() => self.outbox.outage().failed(&error.to_string()),
            Some(error) => self.outages.outbox.failed(&error.to_string()),
            None => {
                self.outbox.outage().works();
                self.outages.outbox.works();
            }
        }
        self.outages.look();
    }

    /// Delivers what is due now; how many notices were looked at.
    ///
    /// # Errors
    /// Errors of the outbox; leased notices are leased again later.
    pub async fn turn(&mut self) -> Result<usize, OutboxError> {
        let now_s = (self.clock)();
        self.keep_house(now_s).await?;
        let most = self.bucket.left(now_s).min(AT_ONCE);
        if most == 0 || now_s < self.paused_until_s {
            return Ok(0);
        }
        let until_s = now_s + self.receiver.timeout_s + LEASE_S;
        let leased = self.outbox.lease(&self.receiver.name, &self.by, now_s, until_s, most).await?;
        if leased.is_empty() {
            return Ok(0);
        }
        let looked_at = leased.len();
        let silences = self.outbox.silences(now_s).await?;
        let mut due = Vec::with_capacity(looked_at);
        for leased in leased {
            match self.instead(&leased, &silences, now_s).await? {
                None => due.push(leased),
                Some(instead) => {
                    notice_metrics::tried(&self.receiver.name, "not_sent");
                    self.outbox.put_back(&leased, &instead).await?;
                }
            }
        }
        self.bucket.take(due.len());
        self.send(due).await?;
        Ok(looked_at)
    }

    async fn keep_house(&mut self, now_s: f64) -> Result<(), OutboxError> {
        if now_s - self.counted_s >= COUNTED_S {
            self.counted_s = now_s;
            notice_metrics::outbox(&self.receiver.name, &self.outbox.counts().await?);
            if self.receiver.kind == Kind::Slurm {
                match slurm::take_back(&mut self.outbox, &self.receiver, now_s, "").await {
                    Ok(_) => self.outages.marks.works(),
                    Err(refusal) => self.outages.marks.failed(&refusal.why),
                }
            }
        }
        if now_s - self.cleaned_s >= CLEANED_S {
            self.cleaned_s = now_s;
            self.outbox.expire(now_s - self.keep_s).await?;
        }
        Ok(())
    }

    /// Where a notice goes that need not be sent: a newer one replaces it, or a silence matches. The end of an incident is
    /// sent if its beginning was. A notice that a silence held back until the incident ended is not sent afterwards.
    async fn instead(
        &mut self,
        leased: &Leased,
        silences: &[AlertSilence],
        now_s: f64,
    ) -> Result<Option<PutBack>, OutboxError> {
        let kind = leased.notice.kind;
        let held = silence::held_until(silences, &leased.notice, now_s);
        if held.is_none() && !leased.held && kind == NoticeKind::Firing {
            return Ok(None);
        }
        let around = self.outbox.around(leased).await?;
        Ok(match (kind, held) {
            (NoticeKind::Renewed, _) if around.later => Some(PutBack::Superseded),
            (NoticeKind::Resolved, _) => {
                (!around.delivered && (held.is_some() || around.silenced)).then_some(PutBack::Silenced)
            }
            (_, held) if around.over && (held.is_some() || leased.held) => Some(PutBack::Silenced),
            (_, None) => None,
            (_, Some(until_s)) => {
                Some(PutBack::Held(until_s.min(now_s + HELD_S), format!("silenced until {until_s:.0}")))
            }
        })
    }

    async fn send(&mut self, due: Vec<Leased>) -> Result<(), OutboxError> {
        if self.receiver.kind == Kind::Slurm {
            for leased in due {
                let now_s = (self.clock)();
                let outcome = slurm::act(&mut self.outbox, &self.receiver, &leased.notice, now_s).await;
                self.note(&leased, outcome).await?;
            }
            return Ok(());
        }
        let (client, receiver, clock) = (&self.client, &self.receiver, &self.clock);
        let sent = due.into_iter().map(|leased| async move {
            let outcome = match receiver.kind {
                Kind::Alertmanager => alertmanager::send(client, receiver, &leased.notice, clock()).await,
                _ => webhook::send(client, receiver, &leased.notice, clock()).await,
            };
            (leased, outcome)
        });
        for (leased, outcome) in futures::future::join_all(sent).await {
            self.note(&leased, outcome).await?;
        }
        Ok(())
    }

    /// Records the outcome of a try.
    async fn note(&mut self, leased: &Leased, outcome: Result<(), Refusal>) -> Result<(), OutboxError> {
        let (now_s, receiver) = ((self.clock)(), Arc::clone(&self.receiver));
        if let Err(refusal) = outcome {
            let to = self.put_back(leased, refusal, now_s);
            return self.outbox.put_back(leased, &to).await.map(drop);
        }
        self.outages.tries.works();
        let first_s = leased.delivered_s.unwrap_or(now_s);
        let again_s = match receiver.kind {
            Kind::Alertmanager => alertmanager::again_s(&receiver, &leased.notice, first_s, now_s),
            Kind::Webhook | Kind::Slurm | Kind::Heartbeat => None,
        };
        if leased.delivered_s.is_none() && leased.notice.kind == NoticeKind::Firing {
            notice_metrics::age(&receiver.name, now_s - leased.notice.fired_s);
        }
        notice_metrics::tried(&receiver.name, "delivered");
        self.outbox.delivered(leased, now_s, again_s).await.map(drop)
    }

    /// What becomes of a notice that was refused.
    fn put_back(&mut self, leased: &Leased, refusal: Refusal, now_s: f64) -> PutBack {
        let receiver = Arc::clone(&self.receiver);
        let late = now_s - leased.first_try_s >= receiver.give_up_h * 3_600.0;
        if leased.delivered_s.is_none() && (refusal.hopeless || late) {
            notice_metrics::tried(&receiver.name, "dead");
            self.outages.dead.failed(&format!("{}: {}", leased.notice.key, refusal.why));
            PutBack::Dead(refusal.why)
        } else {
            notice_metrics::tried(&receiver.name, "failed");
            let wait_s = pace::wait_s(&receiver, leased.attempts, refusal.pause_s, &mut self.random);
            if let Some(pause_s) = refusal.pause_s {
                self.paused_until_s = self.paused_until_s.max(now_s + pause_s.min(wait_s));
            }
            self.outages.tries.failed(&format!("{}: {}", leased.notice.key, refusal.why));
            PutBack::Retry(now_s + wait_s, refusal.why)
        }
    }
}

/// How notices are delivered.
pub struct Delivery<'a> {
    /// To whom.
    pub receivers: &'a [Receiver],
    /// Name of this process, on leases.
    pub by: &'a str,
    /// Seconds after which incidents that were over are forgotten.
    pub keep_s: f64,
    /// Time between two looks at the outbox.
    pub poll: Duration,
    /// The clock.
    pub clock: Clock,
}

/// Why delivery does not start.
#[derive(Debug, thiserror::Error)]
pub enum DeliverError {
    /// No client for a receiver.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// No outbox.
    #[error(transparent)]
    Outbox(#[from] OutboxError),
}

/// Starts a task for each receiver; they end with `stop`.
///
/// # Errors
/// A CA file that cannot be read, a store that cannot be opened.
pub fn deliver_all<F: Future<Output = ()> + Send + 'static>(
    delivery: &Delivery<'_>,
    outbox: impl Fn() -> Result<OutboxStore, OutboxError>,
    stop: impl Fn() -> F,
) -> Result<(), DeliverError> {
    for receiver in delivery.receivers.iter().filter(|receiver| receiver.kind != Kind::Heartbeat) {
        let (clock, outbox) = (Arc::clone(&delivery.clock), outbox()?);
        let way =
            Deliverer::new(receiver.clone(), outbox, delivery.by, delivery.keep_s, clock, Random::seeded())?;
        tokio::spawn(way.run(delivery.poll, stop()));
    }
    Ok(())
}
