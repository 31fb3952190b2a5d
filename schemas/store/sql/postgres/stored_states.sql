SELECT p.stage, p.partition, s.version, coalesce(s.position, p.offset_base), p.offset_base, p.topic_id,
       coalesce(s.bytes, 0)::bigint
FROM stage_positions p LEFT JOIN (
    SELECT stage, partition, min(version) AS version, min(position) AS position, sum(octet_length(content)) AS bytes
    FROM stage_snapshots GROUP BY 1, 2) s USING (stage, partition)
ORDER BY 1, 2
