//! Configuration of aggregator daemons (LDMS 4.5); `tailback ldms-config` puts it together.
//!
//! `@NAME@` is replaced when a site's files are generated.

/// One daemon from which an aggregator collects.
pub const PRODUCER: &str = include_str!("../ldms/producer.conf");
/// When it collects.
pub const COLLECT: &str = include_str!("../ldms/collect.conf");
/// Rows to Kafka.
pub const STORE_KAFKA: &str = include_str!("../ldms/store_kafka.conf");
/// Rows to files.
pub const STORE_CSV: &str = include_str!("../ldms/store_csv.conf");
/// Properties of the Kafka client.
pub const KAFKA: &str = include_str!("../ldms/kafka.conf");
/// Properties of the registry's client.
pub const SERDES: &str = include_str!("../ldms/serdes.conf");

/// Columns with which every row begins, as a JSON list of ldmsd's.
pub const EVERY_ROW: &str = include_str!("../ldms/decomposition/every_row.json");
/// Columns of a Lustre client.
pub const LUSTRE_CLIENT: &str = include_str!("../ldms/decomposition/lustre_client.json");
/// Columns of an object target, and of a job there.
pub const LUSTRE_OST: &str = include_str!("../ldms/decomposition/lustre_ost.json");
/// See [`LUSTRE_OST`].
pub const LUSTRE_OST_JOB_STATS: &str = include_str!("../ldms/decomposition/lustre_ost_job_stats.json");
/// Columns of a metadata target, and of a job there.
pub const LUSTRE_MDT: &str = include_str!("../ldms/decomposition/lustre_mdt.json");
/// See [`LUSTRE_MDT`].
pub const LUSTRE_MDT_JOB_STATS: &str = include_str!("../ldms/decomposition/lustre_mdt_job_stats.json");
/// Columns of a job.
pub const SLURM_JOBS: &str = include_str!("../ldms/decomposition/slurm_jobs.json");
/// Columns of a port that `ibmad_sampler` reads.
pub const IBMAD: &str = include_str!("../ldms/decomposition/ibmad.json");
/// Columns of a switch's port.
pub const IBNET: &str = include_str!("../ldms/decomposition/ibnet.json");
/// Columns of a Slingshot adapter.
pub const SLINGSHOT: &str = include_str!("../ldms/decomposition/slingshot.json");
/// Refusals of a Slingshot adapter, which its retry handler counts.
pub const SLINGSHOT_NACKS: &str = include_str!("../ldms/decomposition/slingshot_nacks.json");
