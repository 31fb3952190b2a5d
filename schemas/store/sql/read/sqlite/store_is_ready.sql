-- The last view of the schema: a store with it can be queried.
SELECT count(*) FROM sqlite_master WHERE type = 'view' AND name = 'learnable_runs'
