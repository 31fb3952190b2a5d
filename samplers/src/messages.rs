//! Time of one message by LogGP, without other traffic on the network (Jha 2017).

/// Parameters of a network and its library, in microseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LogGp {
    /// `L`: from one end of the network to the other.
    pub latency_us: f64,
    /// `o`: of the processor, at either end.
    pub overhead_us: f64,
    /// `g`: least time from one message to the next.
    pub gap_us: f64,
    /// `G`: of each byte.
    pub byte_us: f64,
}

impl LogGp {
    /// From the call at the sender until the receiver has all `bytes` of a message: `L + 2 o + bytes G`.
    pub fn message_us(&self, bytes: f64) -> f64 {
        self.latency_us + 2.0 * self.overhead_us + bytes * self.byte_us
    }

    /// The same of the last of `count` messages of `bytes` that one sender sends one after the other: it can begin the
    /// next when the gap has passed, its processor is free and the bytes are out.
    pub fn messages_us(&self, count: u32, bytes: f64) -> f64 {
        let apart = self.gap_us.max(self.overhead_us).max(bytes * self.byte_us);
        f64::from(count.saturating_sub(1)) * apart + self.message_us(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_follow_at_the_gap_or_at_bandwidth() {
        let network = LogGp { latency_us: 1.84, overhead_us: 1.49, gap_us: 1.08, byte_us: 0.00067 };
        assert!((network.messages_us(1, 16_384.0) - network.message_us(16_384.0)).abs() < 1e-12);
        assert!((network.messages_us(3, 8.0) - network.message_us(8.0) - 2.0 * 1.49).abs() < 1e-12);
        let large = 1e6;
        assert!((network.messages_us(2, large) - network.message_us(large) - 670.0).abs() < 1e-9);
    }
}
