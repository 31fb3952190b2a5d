INSERT INTO node_switches (node, switch, group_name)
SELECT DISTINCT ON (1, 2) * FROM unnest($1::text[], $2::text[], $3::text[])
ON CONFLICT (node, switch) DO UPDATE SET group_name = excluded.group_name
