//! Lives of links, from what ports report (checks T6 to T8 and T12).

use super::*;

/// Reads one port after the other, a tick each; what became of the link, and when.
fn lived(life: &mut LinkLife, readings: impl IntoIterator<Item = PortReading>) -> Vec<(i64, LifeEvent)> {
    let events = readings.into_iter().zip(0..).map(|(reading, tick)| (tick, life.read(&reading, tick)));
    events.filter_map(|(tick, event)| Some((tick, event?))).collect()
}

fn port(up: bool, link_downed: u64) -> PortReading {
    PortReading { port_up: Some(up), link_downed: Some(link_downed), errors: Some(0), carries: up }
}

/// T6: 963 MB/s, nothing at the failure, 100 MB/s until the path is restored, 963 MB/s. Throughput is only seen as
/// something or nothing.
#[test]
fn a_failover_is_one_down_and_one_recovered() {
    let mb_per_s = [vec![963.0; 10], vec![0.0; 2], vec![100.0; 8], vec![963.0; 20]].concat();
    let failed = 10..20;
    let readings = mb_per_s.iter().enumerate().map(|(tick, rate)| PortReading {
        carries: *rate > 0.0 && !failed.contains(&tick),
        ..port(!failed.contains(&tick), u64::from(tick >= 10))
    });
    let mut life = LinkLife::default();
    let events = lived(&mut life, readings);
    assert_eq!(events, [(10, LifeEvent::Down), (20 + RECOVERED_TICKS, LifeEvent::Recovered)]);
    assert_eq!(life.state(), LinkState::Up);
}

/// T6: a dip alone is not reported.
#[test]
fn a_dip_of_throughput_is_no_failure() {
    let dip = |tick: i64| PortReading { carries: !(10..14).contains(&tick), ..port(true, 3) };
    assert_eq!(lived(&mut LinkLife::default(), (0..40).map(dip)), []);
}

/// T6: neither while it is down nor while it is up.
#[test]
fn a_counter_that_is_reset_is_neither_failure_nor_recovery() {
    let mut life = LinkLife::default();
    let unseen = |link_downed| PortReading { link_downed: Some(link_downed), ..PortReading::default() };
    let carries = PortReading { carries: true, ..unseen(7) };
    assert_eq!(lived(&mut life, [carries, carries, unseen(8)]), [(2, LifeEvent::Down)]);
    assert_eq!(lived(&mut life, vec![unseen(0); 100]), []);
    assert_eq!(life.state(), LinkState::Down);
    let reset = [port(true, 9), port(true, 9), port(true, 0), port(true, 0)];
    assert_eq!(lived(&mut LinkLife::default(), reset), []);
}

/// T7: both fail, then return one after the other.
#[test]
fn two_ends_without_a_path_are_partitioned_then_degraded_then_up() {
    let mut paths = [LinkLife::default(), LinkLife::default()];
    let failed = [5..20, 8..40];
    let mut states = Vec::new();
    for tick in 0..60 {
        for (path, failed) in paths.iter_mut().zip(&failed) {
            path.read(&port(!failed.contains(&tick), u64::from(tick >= failed.start)), tick);
        }
        let state = PairState::of(paths.iter().map(LinkLife::as_path));
        if states.last() != Some(&state) {
            states.push(state);
        }
    }
    use PairState::{Degraded, Partitioned, Up};
    assert_eq!(states, [Up, Degraded, Partitioned, Degraded, Up]);
}

/// T7: no source reports that the link works.
#[test]
fn zero_traffic_is_not_healthy() {
    let mut life = LinkLife::default();
    let quiet = PortReading { link_downed: Some(1), errors: Some(0), ..PortReading::default() };
    lived(&mut life, vec![quiet; 30]);
    assert_eq!((life.state(), PairState::of([life.as_path()])), (LinkState::Unknown, PairState::Unknown));
    lived(&mut life, [PortReading { carries: true, ..quiet }]);
    assert_eq!((life.state(), PairState::of([life.as_path()])), (LinkState::Up, PairState::Up));
    assert_eq!(PairState::of([]), PairState::Partitioned);
}

/// T8: 60 ms: the port is up at both readings, and throughput is 6% lower for one second.
#[test]
fn an_outage_within_one_second_is_reported() {
    let mut life = LinkLife::default();
    let events = lived(&mut life, (0..30).map(|tick| port(true, u64::from(tick >= 10))));
    assert_eq!(events, [(10, LifeEvent::Down), (10 + RECOVERED_TICKS, LifeEvent::Recovered)]);
}

#[test]
fn a_port_and_its_counter_report_one_failure_in_two_ticks() {
    let mut life = LinkLife::default();
    let events = lived(&mut life, (0..30).map(|tick| port(!(10..15).contains(&tick), u64::from(tick >= 11))));
    assert_eq!(events, [(10, LifeEvent::Down), (15 + RECOVERED_TICKS, LifeEvent::Recovered)]);
}

#[test]
fn a_link_that_fails_again_and_again_flaps_and_recovers_once() {
    let mut life = LinkLife::default();
    let downs = |tick: i64| (tick / 8).clamp(0, 6) as u64;
    let events = lived(&mut life, (0..150).map(|tick| port(true, downs(tick))));
    let kinds: Vec<LifeEvent> = events.iter().map(|(_, event)| *event).collect();
    use LifeEvent::{Down, Flapping, Recovered};
    assert_eq!(kinds, [Down, Recovered, Down, Recovered, Flapping, Recovered], "{events:?}");
    assert_eq!(events.last().map(|(tick, _)| *tick), Some(48 + FLAPPING_TICKS));
}

#[test]
fn errors_in_a_row_degrade_a_link_until_they_are_over() {
    let erring = |errors| PortReading { errors: Some(errors), ..port(true, 0) };
    let mut life = LinkLife::default();
    let events = lived(&mut life, [0, 5, 5, 9].into_iter().chain([9; 20]).map(erring));
    assert_eq!(events, [], "single errors");
    let events = lived(&mut life, [9, 12, 15, 18].into_iter().chain([18; 20]).map(erring));
    assert_eq!(events, [(3, LifeEvent::Degraded), (4 + CLEAN_TICKS, LifeEvent::Cleared)]);
}

/// T12: and another one later.
#[test]
fn links_that_fail_together_are_one_incident() {
    let down = |link: u32, tick: i64| LinkEvent { series: SeriesIndex(link), tick, event: LifeEvent::Down };
    let mut events: Vec<LinkEvent> = (0..2048).map(|link| down(link, 100 + i64::from(link % 2))).collect();
    let one = incidents(&events);
    assert_eq!((one.len(), one[0].events.len(), one[0].ticks), (1, 2048, (100, 101)));
    events.push(down(3, 160));
    assert_eq!(incidents(&events).len(), 2);
}
