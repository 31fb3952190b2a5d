-- Links that the topology names, and those of them that run beside others; both are 0 without a topology.
SELECT count(*), count(*) FILTER (WHERE bundle <> '') FROM link_places
