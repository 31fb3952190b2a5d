SET synchronous_commit = {commit};
SET TimeZone = 'UTC';
SET client_min_messages = warning;
SET search_path = public;
SET lock_timeout = '30s';
SET idle_in_transaction_session_timeout = '60s'
