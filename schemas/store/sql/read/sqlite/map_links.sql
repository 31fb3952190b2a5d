-- Links of the topology with the number of the series that measures each; null without data yet.
SELECT l.class, l.from_name, l.to_name, s.series_id FROM link_places l LEFT JOIN series s ON s.name = l.series
