-- The account of Grafana. `tailback migrate` made the role tailback_reader.
SELECT 'CREATE ROLE grafana LOGIN' WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'grafana') \gexec
ALTER ROLE grafana PASSWORD :'password';
GRANT tailback_reader TO grafana;
