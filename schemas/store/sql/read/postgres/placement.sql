SELECT topic, name, figure, unit, detail
FROM placement_advice(ARRAY(SELECT jsonb_array_elements_text($1::text::jsonb)))
