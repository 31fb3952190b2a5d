//! Files that the kernel would show: a Lustre mount, targets of a Lustre server, an InfiniBand port, a Slingshot adapter.

use std::path::Path;

/// Bytes written through the mount.
pub const WRITTEN_BYTES: u64 = 41_943_040;

/// Makes them below `folder`.
pub fn make(folder: &Path) {
    let write = |path: &str, text: &str| {
        let path = folder.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    let stats = format!(
        "snapshot_time             1795217740.123456789 secs.nsecs\n\
         read_bytes                10 samples [bytes] 4096 1048576 1048576\n\
         write_bytes               40 samples [bytes] 1048576 1048576 {WRITTEN_BYTES}\n\
         open                      5 samples [usec]\n\
         close                     4 samples [usec]\n\
         getattr                   7 samples [usec]\n"
    );
    write("llite/snx11137-ffff88103d6bd000/stats", &stats);
    write("proc_fs/lustre/obdfilter/snx11137-OST0003/stats", &stats);
    write("proc_fs/lustre/obdfilter/snx11137-OST0003/job_stats", "job_stats:\n");
    write("proc_fs/lustre/mdt/snx11137-MDT0000/md_stats", &stats);
    write("proc_fs/lustre/mdt/snx11137-MDT0000/job_stats", "job_stats:\n");
    for counter in samplers::ldms::IB_PORT_COUNTERS.lines() {
        write(&format!("infiniband/mlx5_0/ports/1/counters/{counter}"), "12345678901234\n");
    }
    for counter in samplers::ldms::SLINGSHOT_COUNTERS.lines() {
        write(&format!("cxi/cxi0/device/telemetry/{counter}"), "103060429480@1743569213.088677609\n");
    }
    write("run_cxi/cxi0/nacks", "25\n");
}
