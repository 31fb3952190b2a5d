-- Messages and rows that stages passed over, with the newest of each kind first.
SELECT stage, topic, reason, count(*), extract(epoch FROM max(time))::double precision,
       (array_agg(format('partition %s, offset %s: %s', partition, message_offset, detail) ORDER BY time DESC))[1]
FROM public.rejected_messages GROUP BY 1, 2, 3 ORDER BY 5 DESC
