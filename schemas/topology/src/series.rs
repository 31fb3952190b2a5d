//! From a link to the series that measures it, and back.
//!
//! InfiniBand counts waits at the port that transmits. Aries counts flits and stalls in the input queue of the tile
//! that receives (SAND2016-9525, 4.1.1: the metric stands for the traffic that comes in). So the series of the
//! link from `c0-0c0s0` to `c0-0c0s1` is named after a tile of `c0-0c0s1`. Interfaces of Slingshot count in both
//! directions, its switches what they receive: a link is named by its interface, else by the switch that receives.

use super::class::VertexKind;
use super::graph::{LinkIndex, Topology, VertexIndex};
use schemas::metric::file::{LinkEnd, PortKind};
use schemas::xname::JackPort;
use schemas::{Metric, Name, SeriesInfo};
use serde::Serialize;

/// Columns of tiles on an Aries router.
const TILE_COLUMNS: u16 = 8;
/// Ports of one adapter of a host: the adapter's number stands above.
pub(super) const ADAPTER_PORTS: u16 = 256;
/// The only port of a Slingshot interface.
pub(super) const INTERFACE_PORT: u16 = 1;
/// What stands before the number of a Slingshot interface: in LDMS, in the kernel's list of networks, in xnames.
const INTERFACES: [&str; 3] = ["cxi", "hsn", "h"];

/// Why a series belongs to no link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PortUnknown {
    /// No vertex of the topology has this name.
    Component,
    /// The vertex has no such port.
    Port,
    /// The port is there, but nothing is connected to it.
    Unconnected,
}

/// A port that reports, but stands nowhere in the topology.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UnknownPort {
    /// Name of the series.
    pub series: String,
    /// What is unknown.
    pub unknown: PortUnknown,
}

impl Topology {
    /// How people and samplers call `port`: `r0c3` on a router, `17` or `j14p0` on a switch, `mlx5_0.1` on a host.
    pub fn port_label(&self, vertex: VertexIndex, port: u16) -> String {
        match self.kind(vertex) {
            VertexKind::Router => format!("r{}c{}", port / TILE_COLUMNS, port % TILE_COLUMNS),
            VertexKind::Switch => switch_port_label(port),
            VertexKind::Host => match self.adapters(vertex).get(usize::from(port / ADAPTER_PORTS)) {
                Some(adapter) => format!("{adapter}.{}", port % ADAPTER_PORTS),
                None => port.to_string(),
            },
        }
    }

    /// The port of `vertex` that is called `label`, connected or not.
    pub fn port_of_label(&self, vertex: VertexIndex, label: &str) -> Option<u16> {
        let code = port_code(self.kind(vertex), self.adapters(vertex), label);
        match self.kind(vertex) {
            VertexKind::Router => code.filter(|port| *port < self.port_count(vertex)),
            VertexKind::Switch => code.and_then(|port| match JackPort::of_number(port) {
                Some(jack) => Some(self.jack_port(vertex, jack)),
                None => Some(port).filter(|port| (1..=self.port_count(vertex)).contains(port)),
            }),
            VertexKind::Host => code.or_else(|| self.host_port(vertex, label)),
        }
    }

    /// The number of a jack's port: that of the whole jack where the cable is known by that alone.
    fn jack_port(&self, switch: VertexIndex, port: JackPort) -> u16 {
        let (own, whole) = (port.number(), port.jack().number());
        let is_connected = |port| self.link(switch, port).is_some();
        if !is_connected(own) && is_connected(whole) { whole } else { own }
    }

    /// The port of another spelling: fabrics write `HCA-1` where nodes write `mlx5_0`, and `h0` where nodes write `cxi0`.
    /// The only port of InfiniBand may have any adapter.
    fn host_port(&self, host: VertexIndex, label: &str) -> Option<u16> {
        if let Some(number) = interface(label) {
            let is_one = |adapter: &Name| interface(adapter.as_str()) == Some(number);
            let at = self.adapters(host).iter().position(is_one)?;
            return Some(at as u16 * ADAPTER_PORTS + INTERFACE_PORT);
        }
        let (adapter, port) = label.rsplit_once('.')?;
        let number: u16 = port.parse().ok().filter(|port| *port < ADAPTER_PORTS)?;
        if let Some(at) = alike(self.adapters(host), adapter) {
            return Some(at as u16 * ADAPTER_PORTS + number);
        }
        let mut links = self.links_from(host);
        match (links.next(), links.next()) {
            (Some(only), None) if self.port(only) % ADAPTER_PORTS == number => Some(self.port(only)),
            _ => None,
        }
    }

    /// What measures `link`; `None` for links that no metric is about, such as those into the hosts of an Aries.
    pub fn series(&self, link: LinkIndex) -> Option<SeriesInfo> {
        let at_receiver = || self.series_at(self.reverse(link), LinkEnd::Receiver);
        self.series_at(link, LinkEnd::Sender).or_else(at_receiver)
    }

    /// What is measured at the port that transmits on `port`, about this end of its links.
    fn series_at(&self, port: LinkIndex, end: LinkEnd) -> Option<SeriesInfo> {
        let kind = self.port_kind(port)?;
        let metric = Metric::naming_links(kind, end)?;
        let part = Name::parse(&self.part(port, kind)).ok()?;
        Some(SeriesInfo { metric, component: self.name(self.from(port)).clone(), part: Some(part) })
    }

    /// What the port that transmits on `link` is; `None` for hosts of an Aries, whose ports no series is about.
    fn port_kind(&self, link: LinkIndex) -> Option<PortKind> {
        let has_jack = |link| JackPort::of_number(self.port(link)).is_some();
        match (self.kind(self.from(link)), self.kind(self.to(link))) {
            (VertexKind::Router, _) => Some(PortKind::Aries),
            (_, VertexKind::Router) => None,
            (VertexKind::Switch, _) if has_jack(link) => Some(PortKind::SlingshotSwitch),
            (VertexKind::Host, VertexKind::Switch) if has_jack(self.reverse(link)) => {
                Some(PortKind::SlingshotNic)
            }
            _ => Some(PortKind::Infiniband),
        }
    }

    /// How samplers call the port that transmits on `link`: `cxi0` where the topology calls it `h0.1`.
    fn part(&self, link: LinkIndex, kind: PortKind) -> String {
        let (vertex, port) = (self.from(link), self.port(link));
        let adapter = self.adapters(vertex).get(usize::from(port / ADAPTER_PORTS));
        match adapter
            .filter(|_| kind == PortKind::SlingshotNic)
            .and_then(|adapter| interface(adapter.as_str()))
        {
            Some(number) => format!("cxi{number}"),
            None => self.port_label(vertex, port),
        }
    }

    /// Name of the series that measures `link`, as in [`SeriesInfo::name`].
    pub fn series_name(&self, link: LinkIndex) -> Option<String> {
        self.series(link).map(|series| series.name())
    }

    /// The link that `series` measures.
    ///
    /// # Errors
    /// [`PortUnknown`] if it measures a port that is not in the topology, or no link at all: a node's writes.
    pub fn link_of_series(&self, series: &SeriesInfo) -> Result<LinkIndex, PortUnknown> {
        let vertex = self.vertex(series.component.as_str()).ok_or(PortUnknown::Component)?;
        let part = series.part.as_ref().ok_or(PortUnknown::Port)?;
        let port = self.port_of_label(vertex, part.as_str()).ok_or(PortUnknown::Port)?;
        let link = self.link(vertex, port).ok_or(match self.kind(vertex) {
            VertexKind::Host if self.port_count(vertex) == 0 => PortUnknown::Port,
            _ => PortUnknown::Unconnected,
        })?;
        match series.metric.measured_at() {
            Some(LinkEnd::Receiver) => Ok(self.reverse(link)),
            Some(LinkEnd::Sender) => Ok(link),
            None => Err(PortUnknown::Port),
        }
    }
}

/// The number of the port that is called `label`, whether such a port is there or not.
pub(super) fn port_code<A: PartialEq<str>>(kind: VertexKind, adapters: &[A], label: &str) -> Option<u16> {
    match kind {
        VertexKind::Router => {
            let (row, column) = label.strip_prefix('r')?.split_once('c')?;
            let (row, column) = (digit(row)?, digit(column)?);
            (column < TILE_COLUMNS).then_some(row * TILE_COLUMNS + column)
        }
        VertexKind::Switch => switch_port(label),
        VertexKind::Host if adapters.is_empty() => label.parse().ok().filter(|port| *port < ADAPTER_PORTS),
        VertexKind::Host => {
            let (adapter, port) = label.rsplit_once('.')?;
            let at = adapters.iter().position(|name| name == adapter)?;
            let port: u16 = port.parse().ok().filter(|port| *port < ADAPTER_PORTS)?;
            (at < usize::from(u16::MAX / ADAPTER_PORTS)).then_some(at as u16 * ADAPTER_PORTS + port)
        }
    }
}

fn switch_port(label: &str) -> Option<u16> {
    let plain = || label.parse().ok().filter(|port| JackPort::of_number(*port).is_none());
    JackPort::parse(label).map(JackPort::number).or_else(plain)
}

/// `17`, or `j14p0` where ports are named by jacks.
pub(super) fn switch_port_label(port: u16) -> String {
    JackPort::of_number(port).map_or_else(|| port.to_string(), |jack| jack.to_string())
}

/// `HCA-1` of old node descriptions is the first device, `mlx4_0`.
fn alike(adapters: &[Name], wanted: &str) -> Option<usize> {
    let device: usize = wanted.rsplit_once('_')?.1.parse().ok()?;
    let old = format!("HCA-{}", device.checked_add(1)?);
    adapters.iter().position(|name| name.as_str() == old)
}

/// The number of a Slingshot interface: 0 of `h0`, `cxi0` and `hsn0`.
fn interface(label: &str) -> Option<u16> {
    let digits = INTERFACES.iter().find_map(|before| label.strip_prefix(before))?;
    digits.bytes().all(|b| b.is_ascii_digit()).then(|| digits.parse().ok())?
}

fn digit(text: &str) -> Option<u16> {
    match text.as_bytes() {
        [digit @ b'0'..=b'9'] => Some(u16::from(digit - b'0')),
        _ => None,
    }
}

/// Of the `reported` series of ports those that stand nowhere in `topology`, or on a port without a cable.
/// Series that are about no port are left out.
pub fn unknown_ports<'s>(
    topology: &Topology,
    reported: impl IntoIterator<Item = &'s SeriesInfo>,
) -> Vec<UnknownPort> {
    let of_port = |series: &&SeriesInfo| series.metric.is_link() && series.part.is_some();
    let unknown = reported.into_iter().filter(of_port).filter_map(|series| {
        let unknown = topology.link_of_series(series).err()?;
        Some(UnknownPort { series: series.name(), unknown })
    });
    unknown.collect()
}
