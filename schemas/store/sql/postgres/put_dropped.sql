INSERT INTO dropped_counts (stage, partition, reason, count)
SELECT $1, $2, d.reason, d.count FROM unnest($3::text[], $4::bigint[]) AS d (reason, count)
ON CONFLICT (stage, partition, reason) DO UPDATE SET count = excluded.count
