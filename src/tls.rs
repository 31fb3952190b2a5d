//! OpenSSL at the end of the process.

/// Has OpenSSL keep its memory when the process exits. It frees it in an exit handler otherwise, while threads that have
/// no end (the one that renews tokens, those of librdkafka) may still be within a call: the process then ended by a
/// segmentation fault instead of its exit status. Only the first initialisation decides: call it before any other use.
pub fn keep_until_the_end() {
    openssl::init();
}

#[cfg(test)]
mod tests {
    use super::*;
    use openssl::ssl::{SslContext, SslMethod};
    use rdkafka::ClientConfig;
    use rdkafka::producer::BaseProducer;
    use std::process::{Command, exit};
    use std::time::Duration;

    /// Set in the process that exits.
    const EXITS: &str = "TAILBACK_TEST_EXITS_WITHIN_TLS";
    /// Status of its exit.
    const STATUS: i32 = 7;

    fn exit_within_tls() {
        keep_until_the_end();
        let _initialises_too: BaseProducer =
            ClientConfig::new().set("security.protocol", "ssl").create().unwrap();
        for _ in 0..4 {
            std::thread::spawn(|| {
                while let Ok(context) = SslContext::builder(SslMethod::tls()) {
                    drop(context.build());
                }
            });
        }
        std::thread::sleep(Duration::from_millis(50));
        exit(STATUS)
    }

    #[test]
    fn process_exits_in_order_while_a_thread_uses_tls() {
        if std::env::var_os(EXITS).is_some() {
            exit_within_tls();
        }
        for round in 0..20 {
            let mut test = Command::new(std::env::current_exe().unwrap());
            test.args(["--exact", "tls::tests::process_exits_in_order_while_a_thread_uses_tls"]);
            let status = test.env(EXITS, "1").output().unwrap().status;
            assert_eq!(status.code(), Some(STATUS), "round {round}: {status}");
        }
    }
}
