-- Kafka's offset up to which each stage has read. Ages by the server's clock.
SELECT stage, partition, owner, position - offset_base, extract(epoch FROM event_time)::double precision,
       extract(epoch FROM clock_timestamp() - committed_at)::double precision
FROM public.stage_positions ORDER BY 1, 2
