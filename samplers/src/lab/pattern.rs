//! Pairs of ranks that exchange messages.

use super::job::Pattern;
use crate::rng::Rng;

/// Partners of a node in uniform traffic: more would not make its load more even, only the lab slower.
pub const UNIFORM_PARTNERS: usize = 32;

/// `(from, to, share)` of `ranks` nodes; the shares of one sender sum to 1. `group` is the number of hosts of a group,
/// 0 without groups.
pub(super) fn pairs(pattern: Pattern, ranks: usize, group: usize, rng: &mut Rng) -> Vec<(usize, usize, f64)> {
    let shifted = |step: usize| (0..ranks).map(|a| (a, vec![(a + step) % ranks])).collect::<Vec<_>>();
    let partners: Vec<(usize, Vec<usize>)> = match pattern {
        _ if ranks < 2 => Vec::new(),
        Pattern::Uniform if ranks > UNIFORM_PARTNERS + 1 => {
            (0..ranks).map(|a| (a, some_others(a, ranks, rng))).collect()
        }
        Pattern::Uniform | Pattern::AllToAll => (0..ranks).map(|a| (a, others(a, ranks))).collect(),
        Pattern::Ring { step } => shifted(step % ranks),
        Pattern::Tornado => shifted(if (1..ranks).contains(&group) { group } else { ranks / 2 }),
        Pattern::Stencil3d => (0..ranks).map(|a| (a, neighbours(a, sides(ranks)))).collect(),
        Pattern::Incast => (1..ranks).map(|a| (a, vec![0])).collect(),
        Pattern::Broadcast => vec![(0, others(0, ranks))],
    };
    let mut pairs = Vec::new();
    for (from, to) in partners {
        let share = 1.0 / to.len().max(1) as f64;
        pairs.extend(to.into_iter().filter(|to| *to != from).map(|to| (from, to, share)));
    }
    pairs
}

fn others(of: usize, ranks: usize) -> Vec<usize> {
    (0..ranks).filter(|rank| *rank != of).collect()
}

fn some_others(of: usize, ranks: usize, rng: &mut Rng) -> Vec<usize> {
    let mut chosen = Vec::with_capacity(UNIFORM_PARTNERS);
    while chosen.len() < UNIFORM_PARTNERS {
        let rank = rng.below(ranks);
        if rank != of && !chosen.contains(&rank) {
            chosen.push(rank);
        }
    }
    chosen
}

/// Sides of the box of `ranks` cells that is nearest to a cube, the shortest first.
fn sides(ranks: usize) -> [usize; 3] {
    let divisors = |n: usize| (1..=n).filter(move |d| n.is_multiple_of(*d));
    let boxes = divisors(ranks).flat_map(|a| divisors(ranks / a).map(move |b| [a, b, ranks / a / b]));
    let ordered = boxes.filter(|[a, b, c]| a <= b && b <= c);
    ordered.min_by_key(|[a, _, c]| c - a).unwrap_or([1, 1, ranks])
}

fn neighbours(rank: usize, [x, y, z]: [usize; 3]) -> Vec<usize> {
    let at = [rank % x, rank / x % y, rank / x / y];
    let mut found = Vec::with_capacity(6);
    for (axis, side) in [x, y, z].into_iter().enumerate() {
        for step in [1, side - 1] {
            let mut to = at;
            to[axis] = (at[axis] + step) % side;
            let to = to[0] + x * (to[1] + y * to[2]);
            if to != rank && !found.contains(&to) {
                found.push(to);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(pattern: Pattern, ranks: usize) -> Vec<(usize, usize, f64)> {
        pairs(pattern, ranks, 0, &mut Rng::new(1, 1))
    }

    #[test]
    fn what_a_node_sends_is_divided_among_its_partners() {
        for pattern in [Pattern::Uniform, Pattern::AllToAll, Pattern::Stencil3d, Pattern::Tornado] {
            for ranks in [2, 7, 24, 60] {
                let pairs = of(pattern, ranks);
                for rank in 0..ranks {
                    let sent: f64 = pairs.iter().filter(|p| p.0 == rank).map(|p| p.2).sum();
                    assert!((sent - 1.0).abs() < 1e-9, "{pattern:?} {ranks} {rank} {sent}");
                }
                assert!(pairs.iter().all(|(a, b, _)| a != b && *b < ranks), "{pattern:?} {ranks}");
            }
        }
    }

    #[test]
    fn patterns_have_the_partners_of_their_name() {
        assert_eq!(of(Pattern::Ring { step: 12 }, 24)[13], (13, 1, 1.0));
        assert_eq!(of(Pattern::Tornado, 10)[3], (3, 8, 1.0));
        assert_eq!(pairs(Pattern::Tornado, 10, 4, &mut Rng::new(1, 1))[3], (3, 7, 1.0));
        assert!(of(Pattern::Incast, 5).iter().all(|(_, to, share)| *to == 0 && *share == 1.0));
        assert!(of(Pattern::Broadcast, 5).iter().all(|(from, _, share)| *from == 0 && *share == 0.25));
        assert_eq!(of(Pattern::Uniform, 100).len(), 100 * UNIFORM_PARTNERS);
        assert_eq!((sides(64), sides(24), sides(7)), ([4, 4, 4], [2, 3, 4], [1, 1, 7]));
        assert_eq!(of(Pattern::Stencil3d, 27).len(), 27 * 6);
        assert!(of(Pattern::AllToAll, 1).is_empty());
    }
}
