SELECT now FROM clock
