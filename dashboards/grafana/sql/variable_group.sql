SELECT DISTINCT group_name FROM component_places WHERE group_name <> '' AND metric = ${metric:sqlstring} ORDER BY 1
