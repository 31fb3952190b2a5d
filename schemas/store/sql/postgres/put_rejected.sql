-- Of one message that is read again the newer row stays; what Tailback wrote at one offset is numbered on.
INSERT INTO rejected_messages AS known (stage, topic, partition, message_offset, number, reason, detail, message_key, size, head)
SELECT DISTINCT ON (1, 2, 3, 4, 5) r.stage, r.topic, r.partition, r.message_offset,
       CASE WHEN r.written THEN r.place + coalesce(
           (SELECT max(k.number) FROM rejected_messages k
            WHERE k.topic = r.topic AND k.partition = r.partition AND k.message_offset = r.message_offset
              AND k.stage = r.stage), 0) ELSE 0 END,
       r.reason, r.detail, r.message_key, r.size, r.head
FROM unnest($1::text[], $2::text[], $3::integer[], $4::bigint[], $5::boolean[], $6::text[], $7::text[], $8::text[], $9::bigint[],
            $10::bytea[])
    WITH ORDINALITY AS r (stage, topic, partition, message_offset, written, reason, detail, message_key, size, head, place)
ORDER BY 1, 2, 3, 4, 5, r.place DESC
ON CONFLICT (topic, partition, message_offset, stage, number) DO UPDATE SET
    time = excluded.time, reason = excluded.reason, detail = excluded.detail, message_key = excluded.message_key,
    size = excluded.size, head = excluded.head
