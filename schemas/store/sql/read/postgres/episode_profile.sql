SELECT profile::text FROM episodes
WHERE source_partition = ($1::bigint / 1000000000000)::integer AND id = $1::bigint % 1000000000000
