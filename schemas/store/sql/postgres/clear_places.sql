DELETE FROM node_switches
