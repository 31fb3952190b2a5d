//! Which of the claims are cables: both ends agree, or one end claims it and nothing contradicts.

use super::{Claim, Draft};
use crate::class::VertexKind;
use crate::fault::FaultKind;
use crate::series::switch_port_label;

/// A cable: what its two ends claim, or one of them and its mirror image.
pub(super) type Cable = (Claim, Claim);

impl Draft {
    /// The cables among the claims, in the order of the first claims.
    pub(super) fn cables(&mut self) -> Vec<Cable> {
        let mut claims = std::mem::take(&mut self.claims);
        claims.retain(|claim| self.is_between_two(claim));
        claims.sort_by_key(|claim| (claim.end.vertex, claim.end.port));
        let chosen = self.one_per_port(&claims);
        let mut cables = Vec::with_capacity(chosen.len() / 2);
        for claim in &chosen {
            match of_port(&chosen, claim.end.peer.0, claim.end.peer_port) {
                Some(other) if !faces(other, claim) => self.note_peers(claim, other),
                // Both ends are there: the cable is taken once, at its lower end.
                Some(other) if lower(claim, other) => cables.push((*claim, *other)),
                Some(_) => {}
                None => {
                    self.note(claim, FaultKind::OneEnd);
                    cables.push((*claim, mirror(claim)));
                }
            }
        }
        self.without_doubles(cables)
    }

    fn is_between_two(&mut self, claim: &Claim) -> bool {
        let apart = claim.end.vertex != claim.end.peer;
        if !apart {
            self.note(claim, FaultKind::SelfLink);
        }
        apart
    }

    /// Of the claims of one port the one whose peer agrees, else the first.
    fn one_per_port(&mut self, sorted: &[Claim]) -> Vec<Claim> {
        let mut chosen = Vec::with_capacity(sorted.len());
        for same in sorted.chunk_by(|a, b| (a.end.vertex, a.end.port) == (b.end.vertex, b.end.port)) {
            let agreed = |claim: &&Claim| {
                let others = all_of_port(sorted, claim.end.peer.0, claim.end.peer_port);
                others.iter().any(|other| faces(other, claim))
            };
            let taken = same.iter().find(agreed).unwrap_or(&same[0]);
            for other in same.iter().filter(|other| peer(other) != peer(taken)) {
                self.note_peers(other, taken);
            }
            chosen.push(*taken);
        }
        chosen
    }

    /// Two one-ended claims may name the same port of a vertex that claims nothing itself: the first one has it.
    fn without_doubles(&mut self, cables: Vec<Cable>) -> Vec<Cable> {
        let mut taken = std::collections::HashSet::with_capacity(cables.len() * 2);
        let mut kept = Vec::with_capacity(cables.len());
        for (near, far) in cables {
            let ends = [(near.end.vertex, near.end.port), (far.end.vertex, far.end.port)];
            if ends.iter().any(|end| taken.contains(end)) {
                self.note_peers(&far, &near);
                continue;
            }
            taken.extend(ends);
            kept.push((near, far));
        }
        kept
    }

    fn text(&self, vertex: super::DraftVertex, port: u16) -> String {
        let facts = &self.facts[vertex.0 as usize];
        let name = facts.name.clone().unwrap_or_else(|| format!("guid-{:016x}", facts.guid));
        match self.kinds[vertex.0 as usize] {
            VertexKind::Switch => format!("{name}[{}]", switch_port_label(port)),
            _ => format!("{name}[{port}]"),
        }
    }

    fn note(&mut self, claim: &Claim, kind: FaultKind) {
        let (near, far) =
            (self.text(claim.end.vertex, claim.end.port), self.text(claim.end.peer, claim.end.peer_port));
        self.faults.note(kind, self.origin(claim.file, claim.line), &format!("{near} to {far}"));
    }

    /// `dropped` gave way to `taken`.
    fn note_peers(&mut self, dropped: &Claim, taken: &Claim) {
        let near = self.text(dropped.end.vertex, dropped.end.port);
        let far = self.text(dropped.end.peer, dropped.end.peer_port);
        let other = self.text(taken.end.vertex, taken.end.port);
        let others = self.text(taken.end.peer, taken.end.peer_port);
        let value = format!("{near} to {far}, but {other} to {others}");
        self.faults.note(FaultKind::TwoPeers, self.origin(dropped.file, dropped.line), &value);
    }
}

fn peer(claim: &Claim) -> (u32, u16) {
    (claim.end.peer.0, claim.end.peer_port)
}

fn faces(a: &Claim, b: &Claim) -> bool {
    peer(a) == (b.end.vertex.0, b.end.port) && peer(b) == (a.end.vertex.0, a.end.port)
}

fn lower(a: &Claim, b: &Claim) -> bool {
    (a.end.vertex, a.end.port) < (b.end.vertex, b.end.port)
}

fn all_of_port(sorted: &[Claim], vertex: u32, port: u16) -> &[Claim] {
    let key = |claim: &Claim| (claim.end.vertex.0, claim.end.port);
    let start = sorted.partition_point(|claim| key(claim) < (vertex, port));
    let end = sorted.partition_point(|claim| key(claim) <= (vertex, port));
    &sorted[start..end]
}

fn of_port(sorted: &[Claim], vertex: u32, port: u16) -> Option<&Claim> {
    all_of_port(sorted, vertex, port).first()
}

fn mirror(claim: &Claim) -> Claim {
    let mut other = *claim;
    (other.end.vertex, other.end.port) = (claim.end.peer, claim.end.peer_port);
    (other.end.peer, other.end.peer_port) = (claim.end.vertex, claim.end.port);
    other
}
