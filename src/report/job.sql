SELECT job_id, user_name, name, start_time, end_time, app FROM jobs WHERE job_id = ?1
