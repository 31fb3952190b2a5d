SELECT roll_up()
