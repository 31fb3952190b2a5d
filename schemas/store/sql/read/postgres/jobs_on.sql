-- Jobs that ever had one of the nodes of the JSON list $1.
SELECT DISTINCT job_id FROM job_nodes WHERE node = ANY (ARRAY(SELECT jsonb_array_elements_text($1::text::jsonb)))
