//! The server as `tailback doctor` looks at it. Only the server has these tables.

/// What the server is and may; a result without any migration too.
pub const SERVER: &str = include_str!("../../sql/read/postgres/doctor_server.sql");
/// Background jobs of TimescaleDB whose latest run failed.
pub const FAILED_JOBS: &str = include_str!("../../sql/read/postgres/doctor_last_runs.sql");
/// How far each stage has read.
pub const POSITIONS: &str = include_str!("../../sql/read/postgres/doctor_positions.sql");
/// Where a restart begins to read again.
pub const SNAPSHOTS: &str = include_str!("../../sql/read/postgres/doctor_snapshots.sql");
/// Samplers, with the time of their last row.
pub const SAMPLERS: &str = include_str!("../../sql/read/postgres/doctor_samplers.sql");
/// Nodes of the latest jobs of which no row ever came.
pub const UNKNOWN_NODES: &str = include_str!("../../sql/read/postgres/doctor_unknown_nodes.sql");
/// Expected sources of which no row ever came.
pub const NEVER_SEEN: &str = include_str!("../../sql/read/postgres/doctor_never_seen.sql");
/// Series of ports.
pub const PORTS: &str = include_str!("../../sql/read/postgres/doctor_ports.sql");
/// Rows that were not used, by reason.
pub const DROPPED: &str = include_str!("../../sql/read/postgres/doctor_dropped.sql");
/// Messages and rows that stages passed over.
pub const REJECTED: &str = include_str!("../../sql/read/postgres/doctor_rejected.sql");
