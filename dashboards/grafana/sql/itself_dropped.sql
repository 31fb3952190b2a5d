-- Dropped rows since the start, by reason.
SELECT reason, count AS rows, count::double precision / nullif((SELECT sum(rows) FROM producers), 0) AS share
FROM dropped_rows WHERE count > 0 ORDER BY count DESC, reason
