-- Where a restart begins to read again.
SELECT DISTINCT stage, partition, position FROM public.stage_snapshots ORDER BY 1, 2
