SELECT DISTINCT metric FROM component_places WHERE metric IN (SELECT m.metric FROM metrics m WHERE m.measures = 'link') ORDER BY 1
