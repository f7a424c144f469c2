"""The engine room: all compiled code, each piece with the plain NumPy that it must agree with."""
