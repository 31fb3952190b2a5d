-- A session that changes nothing and waits no longer than the timeout.
SET default_transaction_read_only = on;
SET TimeZone = 'UTC';
SET statement_timeout = {timeout_ms};
SET application_name = 'tailback doctor'
