//! Configuration of sampler daemons (LDMS 4.5), one piece a plug-in; the crate `ldmsd` puts them together.
//!
//! `@NAME@` is replaced when a site's files are generated, `${TAILBACK_…}` by ldmsd itself, from the host's own file.

/// Transport and port.
pub const LISTEN: &str = include_str!("../ldms/listen.conf");
/// Tiles of an Aries router.
pub const ARIES_ROUTER: &str = include_str!("../ldms/aries_router.conf");
/// Counters of a tile behind `AR_RTR_<row>_<column>_`, one a line.
pub const ARIES_TILE_COUNTERS: &str = include_str!("../ldms/aries_tile.counters");
/// Lustre client.
pub const LUSTRE_CLIENT: &str = include_str!("../ldms/lustre_client.conf");
/// Object targets of a Lustre server.
pub const LUSTRE_OST: &str = include_str!("../ldms/lustre_ost.conf");
/// Metadata targets of a Lustre server.
pub const LUSTRE_MDT: &str = include_str!("../ldms/lustre_mdt.conf");
/// Jobs of Slurm.
pub const SLURM_JOBS: &str = include_str!("../ldms/slurm_jobs.conf");
/// InfiniBand ports by the kernel's files.
pub const IB_FILESINGLE: &str = include_str!("../ldms/ib_filesingle.conf");
/// Files of a port, one a line.
pub const IB_PORT_COUNTERS: &str = include_str!("../ldms/ib_port.counters");
/// InfiniBand ports by datagrams, in one set.
pub const IB_SYSCLASSIB: &str = include_str!("../ldms/ib_sysclassib.conf");
/// InfiniBand ports by datagrams, a set for each.
pub const IB_IBMAD: &str = include_str!("../ldms/ib_ibmad.conf");
/// InfiniBand switches.
pub const IB_SWITCHES: &str = include_str!("../ldms/ib_switches.conf");
/// Groups of counters that switches are asked for.
pub const IB_SWITCH_METRICS: &str = include_str!("../ldms/ib_switches.metrics");
/// Slingshot adapters.
pub const SLINGSHOT: &str = include_str!("../ldms/slingshot.conf");
/// Counters of a Slingshot adapter, one a line.
pub const SLINGSHOT_COUNTERS: &str = include_str!("../ldms/slingshot.counters");
