-- Kafka's offset at which a restart begins to read again.
SELECT DISTINCT stage, partition, greatest(s.position - p.offset_base, 0)
FROM public.stage_snapshots s JOIN public.stage_positions p USING (stage, partition) ORDER BY 1, 2
