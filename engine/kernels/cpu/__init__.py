"""Products for processors, compiled with numba for the machine they run on."""
