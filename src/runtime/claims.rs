//! What happens when a consumer group assigns partitions to a stage: they are claimed in the database.

use super::commit::Request;
use super::input_topic::ClaimedId;
use super::kafka::Listener;
use super::stop::Control;
use rdkafka::consumer::BaseConsumer;
use rdkafka::{Offset, TopicPartitionList};
use stages::stage::Stage;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use store::postgres::Claim;
use tokio::sync::{mpsc, oneshot};

/// Claims of partitions that the stage has yet to adopt.
pub type Claims = Arc<Mutex<BTreeMap<i32, Claim>>>;

/// Claims newly assigned partitions in the database and begins to read them where their state ends.
pub fn claim_and_seek<S: Stage>(
    writer: mpsc::Sender<Request>,
    claims: Claims,
    id: ClaimedId,
    control: Control,
    refused: Arc<AtomicBool>,
) -> impl Fn(&BaseConsumer<Listener>, &mut TopicPartitionList) + Send + Sync {
    move |consumer, list| {
        let partitions: Vec<i32> = list.elements().iter().map(|e| e.partition()).collect();
        if partitions.is_empty() {
            // A cooperative group first assigns nothing to a new member, until other members have released partitions.
            return;
        }
        let (done, answer) = oneshot::channel();
        let topic = list.elements().first().map(|e| e.topic().to_string()).unwrap_or_default();
        let topic_id = ClaimedId::request(consumer, &topic);
        let asked = writer.blocking_send(Request::Claim(partitions, topic_id, done)).is_ok();
        let found = if asked { answer.blocking_recv().unwrap_or_default() } else { Vec::new() };
        if found.is_empty() && !control.stopping() {
            tracing::error!(stage = S::STAGE, "failed to claim partitions");
            refused.store(true, Ordering::Relaxed);
        }
        let topics: Vec<(String, i32)> =
            list.elements().iter().map(|e| (e.topic().to_string(), e.partition())).collect();
        id.claimed(found.iter().find_map(|(_, claim)| claim.topic_id.clone()));
        for (partition, claim) in found {
            let begin = claim.begin() - claim.offset_base;
            if let Some((topic, _)) = topics.iter().find(|(_, number)| *number == partition) {
                let offset = if begin > 0 { Offset::Offset(begin) } else { Offset::Beginning };
                let _ = list.set_partition_offset(topic, partition, offset);
            }
            claims.lock().unwrap_or_else(PoisonError::into_inner).insert(partition, claim);
        }
    }
}
