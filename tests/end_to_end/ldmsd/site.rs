//! Generated files, put where daemons on this machine find them.

use super::hardware;
use schemas::Site;
use std::collections::BTreeSet;
use std::net::TcpListener;
use std::path::{Path, PathBuf};

/// When level 1 collects.
pub const LEVEL1_OFFSET_US: i64 = 200_000;

/// What this machine and its ldmsd can do.
#[derive(Clone, Copy)]
pub struct Has {
    /// The plug-in of Aries routers, which needs Cray's libgpcd.
    pub aries: bool,
    /// Files of Lustre servers, which need mounts of the process's own.
    pub servers: bool,
    /// The plug-in that stores to Kafka.
    pub kafka: bool,
}

/// A site's files, in a folder of this test.
pub struct Installed {
    folder: tempfile::TempDir,
    site: Site,
}

impl Installed {
    /// One of the sites with expected files in `tests/fixtures/ldms_config`.
    pub fn good(name: &str) -> Installed {
        let root = support::paths::root();
        let path = root.join("schemas/tests/sites/good").join(format!("{name}.toml"));
        Installed::of(&std::fs::read_to_string(path).unwrap())
    }

    /// Hosts of all kinds that need no hardware, on addresses of the loopback interface, with both levels.
    pub fn lab(has: Has, format: &str) -> Installed {
        let routers = if has.aries {
            "[aries]\nredundancy = 1\n[[aries.routers]]\nfirst = \"c0-0c0s0\"\nnids = \"2-5\"\n"
        } else {
            ""
        };
        Installed::of(&format!(
            "name = \"lab\"\n{format}\nscheduler = \"slurm\"\n{routers}
             [[hosts]]\nnames = \"127.0.0.[2-3]\"\nrole = \"compute\"\nlustre = [\"snx11137\"]\n
             [[hosts]]\nnames = \"127.0.0.5\"\nrole = \"service\"\nserves = [\"ost\", \"mdt\"]\n
             [[hosts]]\nnames = \"127.0.0.6\"\nrole = \"slingshot\"\n
             [[hosts]]\nnames = \"127.0.0.7\"\nrole = \"ib_host\"\nports = [\"mlx5_0.1\"]\n
             [[aggregators]]\nname = \"127.0.0.8\"\nlevel = 1\ntakes = \"127.0.0.[2-3,5-7]\"\n
             [[aggregators]]\nname = \"127.0.0.9\"\nlevel = 2\ntakes = \"127.0.0.8\"\n"
        ))
    }

    fn of(text: &str) -> Installed {
        let folder = tempfile::tempdir().unwrap();
        let mut site = Site::parse(text).unwrap();
        let conf = folder.path().join("conf");
        site.ldmsd.conf_dir = conf.to_string_lossy().into_owned();
        site.ldmsd.auth_file = folder.path().join("secret").to_string_lossy().into_owned();
        if site.ldmsd.auth == schemas::site::Auth::Munge {
            // munged need not run here.
            site.ldmsd.auth = schemas::site::Auth::None;
        }
        site.csv_dir = folder.path().join("csv").to_string_lossy().into_owned();
        // Daemons share the ports on addresses of their own; another test may have other ports.
        site.ldmsd.port = free_port();
        for aggregator in &mut site.aggregators {
            aggregator.port = free_port();
        }
        for class in site.classes.iter_mut().filter(|class| !class.lid_file.is_empty()) {
            class.lid_file = folder.path().join("lids").to_string_lossy().into_owned();
            class.node_name_map = folder.path().join("names").to_string_lossy().into_owned();
        }
        std::fs::create_dir_all(&site.csv_dir).unwrap();
        write_private(&folder.path().join("secret"), "secretword=loopback-only-test\n");
        std::fs::write(folder.path().join("lids"), "1 0xe41d2d030069f7c0 2 *\n").unwrap();
        std::fs::write(folder.path().join("names"), "0xe41d2d030069f7c0 \"leaf1\"\n").unwrap();
        hardware::make(folder.path());
        let installed = Installed { folder, site };
        installed.copy();
        installed
    }

    /// Both folders into one, as a host would have one of them, with the hardware of this test.
    fn copy(&self) {
        let conf = Path::new(&self.site.ldmsd.conf_dir);
        for (path, text) in ldmsd::generate(&self.site).unwrap() {
            let inside: PathBuf = path.components().skip(1).collect();
            if inside.as_os_str().is_empty() {
                continue;
            }
            let target = conf.join(inside);
            std::fs::create_dir_all(target.parent().unwrap()).unwrap();
            std::fs::write(target, self.on_this_machine(&text)).unwrap();
        }
    }

    fn on_this_machine(&self, text: &str) -> String {
        let here = self.folder().display();
        text.replace("/sys/class/infiniband", &format!("{here}/infiniband"))
            .replace(
                "config name=lustre_client ",
                &format!("config name=lustre_client test_path={here}/llite "),
            )
            .replace("config name=cxi_sampler ", &format!("config name=cxi_sampler tel_path={here}/cxi "))
            .replace(
                "config name=slingshot_nacks ",
                &format!("config name=slingshot_nacks tel_path={here}/cxi rh_path={here}/run_cxi "),
            )
    }

    /// Where everything is.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// What each daemon of the site is, and ldmsd's arguments for it.
    pub fn commands(&self) -> Vec<(String, Vec<String>)> {
        let conf = Path::new(&self.site.ldmsd.conf_dir);
        let mut commands = Vec::new();
        for (host, _) in self.site.hosts() {
            let text = std::fs::read_to_string(conf.join(format!("hosts/{host}.conf"))).unwrap();
            let hint = text.lines().next().unwrap().strip_prefix("# ldmsd -F ").unwrap();
            commands.push((host.to_string(), self.bound(hint, host.as_str())));
        }
        for aggregator in &self.site.aggregators {
            let hint = format!("-c {}/{}.conf", conf.display(), aggregator.name);
            commands.push((aggregator.name.to_string(), self.bound(&hint, aggregator.name.as_str())));
        }
        commands
    }

    /// The arguments, with a copy of the last file that listens on the host's own address if the name is one.
    fn bound(&self, hint: &str, host: &str) -> Vec<String> {
        let mut arguments: Vec<String> = hint.split(' ').map(str::to_string).collect();
        let last = arguments.last_mut().unwrap();
        if host.parse::<std::net::IpAddr>().is_ok() {
            let text = std::fs::read_to_string(&*last).unwrap();
            let listens = |line: &str| match line.starts_with("listen ") {
                true => format!("{line} host={host}\n"),
                false => format!("{line}\n"),
            };
            let copy = self.folder().join(format!("{host}.conf"));
            std::fs::write(&copy, text.lines().map(listens).collect::<String>()).unwrap();
            *last = copy.to_string_lossy().into_owned();
        }
        arguments
    }
}

/// ldmsd refuses a secret that other users can read.
fn write_private(path: &Path, text: &str) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::write(path, text).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)).unwrap();
}

pub fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// Row schemas of [`Installed::lab`] that come each tick, and how many producers send them.
pub fn schemas(has: Has) -> Vec<(&'static str, usize)> {
    let mut schemas =
        vec![("lustre_client", 2), ("ib_sysfs_mlx5_0_1", 1), ("slingshot", 1), ("slingshot_nacks", 1)];
    if has.servers {
        schemas.extend([("lustre_ost", 1), ("lustre_mdt", 1)]);
    }
    if has.aries {
        schemas.extend([("aries_rtr_left", 1), ("aries_rtr_right", 1)]);
    }
    schemas
}

/// Series that the decoder makes of them.
pub fn series(has: Has) -> BTreeSet<String> {
    let mut series: BTreeSet<String> =
        ["ib_wait_ratio/127.0.0.7/mlx5_0.1", "slingshot_nack_rate/127.0.0.6/cxi0"].map(String::from).into();
    for metric in ["lustre_write_rate", "lustre_read_rate", "lustre_metadata_rate"] {
        series.extend([2, 3].map(|host| format!("{metric}/127.0.0.{host}/snx11137")));
    }
    for metric in ["slingshot_tx_pause_ratio", "slingshot_rx_pause_ratio", "slingshot_flow_stall_ratio"] {
        series.insert(format!("{metric}/127.0.0.6/cxi0"));
    }
    if has.servers {
        series.insert("lustre_ost_load/127.0.0.5/snx11137-OST0003".to_string());
        series.insert("lustre_mdt_load/127.0.0.5/snx11137-MDT0000".to_string());
    }
    if has.aries {
        let tiles = (0..5).flat_map(|row| (0..8).map(move |column| (row, column)));
        series.extend(tiles.map(|(row, column)| format!("aries_stall_ratio/c0-0c0s0/r{row}c{column}")));
    }
    series
}
