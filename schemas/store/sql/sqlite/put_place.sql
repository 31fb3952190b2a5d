INSERT INTO node_switches (node, switch, group_name) VALUES (?1, ?2, ?3)
ON CONFLICT (node, switch) DO UPDATE SET group_name = excluded.group_name
