-- The switch of a node and the group or pod of that switch, for networks whose names do not contain them.
CREATE TABLE node_switches (
    node       text NOT NULL,
    switch     text NOT NULL,
    group_name text NOT NULL,               -- '' where there is none
    PRIMARY KEY (node, switch)
);
CREATE INDEX node_switches_by_switch ON node_switches (switch);

-- The link that a series measures, from the topology. Of several groups of parallel links that a link is in, the largest.
CREATE TABLE link_places (
    series      text PRIMARY KEY,
    class       text NOT NULL,              -- host, leaf, spine, local, global, green, black, blue, other
    from_name   text NOT NULL,              -- transmitting end
    to_name     text NOT NULL,
    bundle      text NOT NULL,              -- parallel links among which routing may choose; '' for none
    bytes_per_s double precision            -- capacity; null where the topology has none
);
CREATE INDEX link_places_by_bundle ON link_places (bundle) WHERE bundle <> '';

-- The group of each component: from its name, or from the switch that it is or is connected to; '' where it is unknown.
CREATE TABLE component_places (
    metric     text NOT NULL,
    component  text NOT NULL,
    group_name text NOT NULL,
    PRIMARY KEY (metric, component)
);
CREATE INDEX component_places_by_group ON component_places (group_name);
