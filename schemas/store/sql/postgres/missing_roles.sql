-- Whether the account may create roles, and Tailback's roles that are missing.
SELECT current_user::text,
       (SELECT rolcreaterole OR rolsuper FROM pg_roles WHERE rolname = current_user),
       ARRAY(SELECT wanted FROM unnest(ARRAY['tailback_writer', 'tailback_reader', 'tailback_user']) AS wanted
             WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = wanted))
