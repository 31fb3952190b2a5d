-- Number of links in the topology, and of those with parallel links; both are 0 without a topology.
SELECT count(*), count(*) FILTER (WHERE bundle <> '') FROM link_places
