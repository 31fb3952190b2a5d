-- The view is created last but two by the first migration: with it the store can be asked.
SELECT count(*) FROM sqlite_master WHERE type = 'view' AND name = 'job_slowdown'
