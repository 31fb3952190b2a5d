-- The switch of a node and the group or pod of that switch, '' where there is none.
CREATE TABLE node_switches (
    node       TEXT NOT NULL,
    switch     TEXT NOT NULL,
    group_name TEXT NOT NULL,
    PRIMARY KEY (node, switch)
) STRICT, WITHOUT ROWID;

-- The link that a series measures, from the topology. Of several groups of parallel links that a link is in, the largest.
CREATE TABLE link_places (
    series      TEXT PRIMARY KEY,
    class       TEXT NOT NULL,              -- host, leaf, spine, local, global, green, black, blue, other
    from_name   TEXT NOT NULL,              -- transmitting end
    to_name     TEXT NOT NULL,
    bundle      TEXT NOT NULL,              -- parallel links among which routing may choose; '' for none
    bytes_per_s REAL                        -- capacity; null where the topology has none
) STRICT, WITHOUT ROWID;
CREATE INDEX link_places_by_bundle ON link_places (bundle) WHERE bundle <> '';
