"""A comparison: ``spec`` says what is wanted, ``run`` measures one run, ``pool`` all as one."""
