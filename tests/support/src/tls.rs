//! Certificates, and the rules by which a server of `tests/services/postgres` admits accounts.

use std::path::Path;
use std::process::Command;
use tokio_postgres::Client;

/// An authority, and what it signed for `localhost`: a key and a certificate.
pub fn certificates(folder: &Path) {
    let run = |arguments: &str| {
        let output = Command::new("openssl").args(arguments.split(' ')).current_dir(folder).output().unwrap();
        assert!(output.status.success(), "openssl {arguments}: {}", String::from_utf8_lossy(&output.stderr));
    };
    let key = "-newkey rsa:2048 -nodes -days 3650";
    for name in ["ca", "other"] {
        run(&format!("req -x509 {key} -subj /CN={name} -keyout {name}.key -out {name}.pem"));
    }
    run("req -newkey rsa:2048 -nodes -subj /CN=localhost -keyout server.key -out server.csr");
    std::fs::write(folder.join("names"), "subjectAltName=DNS:localhost\n").unwrap();
    run(
        "x509 -req -days 3650 -in server.csr -CA ca.pem -CAkey ca.key -set_serial 1 -extfile names -out server.pem",
    );
}

/// Writes a file into the data folder of the server, as its own account.
pub async fn put(admin: &Client, name: &str, text: &str) {
    let lines = text.trim_end();
    let sql = format!(
        "COPY (SELECT unnest(string_to_array('{lines}', E'\\n'))) TO PROGRAM 'umask 077; cat >{name}'"
    );
    admin.batch_execute(&sql).await.unwrap();
}

/// Accounts that may connect: the owner anyhow, others by these rules.
pub async fn rules(admin: &Client, rules: &str) {
    put(admin, "pg_hba.conf", &format!("local all all trust\n{rules}\nhost all tailback all trust")).await;
}
