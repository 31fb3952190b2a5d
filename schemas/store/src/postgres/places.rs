//! Locations of nodes and links, from the topology.

use super::connect::connect;
use super::{PgError, PgSettings};
use topology::{LinkPlace, NodePlace};

/// Replaces what the database knows of the switches that nodes hang on.
///
/// # Errors
/// [`PgError::Retry`] when the server does not answer; [`PgError::Stop`] for missing rights.
pub async fn put_places(settings: &PgSettings, places: &[NodePlace]) -> Result<(), PgError> {
    let mut client = connect(settings).await?;
    let nodes: Vec<&str> = places.iter().map(|place| place.node.as_str()).collect();
    let switches: Vec<&str> = places.iter().map(|place| place.switch.as_str()).collect();
    let groups: Vec<&str> = places.iter().map(|place| place.group.as_str()).collect();
    let transaction = client.transaction().await?;
    transaction.execute(include_str!("../../sql/postgres/clear_places.sql"), &[]).await?;
    transaction
        .execute(include_str!("../../sql/postgres/put_places.sql"), &[&nodes, &switches, &groups])
        .await?;
    transaction.commit().await?;
    Ok(())
}

/// Replaces what the database knows of links.
///
/// # Errors
/// As [`put_places`].
pub async fn put_links(settings: &PgSettings, links: &[LinkPlace]) -> Result<(), PgError> {
    let mut client = connect(settings).await?;
    let column = |text: fn(&LinkPlace) -> &str| links.iter().map(text).collect::<Vec<&str>>();
    let bytes_per_s: Vec<f64> = links.iter().map(|link| link.bytes_per_s).collect();
    let transaction = client.transaction().await?;
    transaction.execute(include_str!("../../sql/postgres/clear_links.sql"), &[]).await?;
    transaction
        .execute(
            include_str!("../../sql/postgres/put_links.sql"),
            &[
                &column(|link| &link.series),
                &column(|link| link.class),
                &column(|link| link.from.as_str()),
                &column(|link| link.to.as_str()),
                &column(|link| &link.bundle),
                &bytes_per_s,
            ],
        )
        .await?;
    transaction.commit().await?;
    Ok(())
}
