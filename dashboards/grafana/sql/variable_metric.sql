SELECT DISTINCT metric FROM component_places WHERE metric NOT LIKE 'lustre%' ORDER BY 1
