SELECT job_id FROM jobs WHERE start_time < $__timeTo() AND coalesce(end_time, $__timeTo()) > $__timeFrom()
ORDER BY start_time DESC, job_id LIMIT 1000
