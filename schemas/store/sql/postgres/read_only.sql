SET default_transaction_read_only = on;
-- The latest rows of 260,000 series are sorted in memory.
SET work_mem = '64MB'
