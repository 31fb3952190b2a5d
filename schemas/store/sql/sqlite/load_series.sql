SELECT series_id, metric, component, part FROM series ORDER BY series_id
