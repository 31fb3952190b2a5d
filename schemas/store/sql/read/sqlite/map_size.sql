-- Numbers of links, nodes and series: when one of them changes, the map is read again.
SELECT (SELECT count(*) FROM link_places), (SELECT count(*) FROM node_switches), (SELECT count(*) FROM series)
