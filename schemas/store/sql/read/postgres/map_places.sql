-- Nodes with the switches that they are on, and the groups of these.
SELECT p.node, p.switch, coalesce(p.group_name, '') FROM node_places p
