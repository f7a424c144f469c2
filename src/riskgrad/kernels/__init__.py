"""All compiled code of the library; a test compares each piece with plain NumPy or plain Python.

`compile` has the decorators, `formulas` what compiled loops and NumPy share, to the same bits.
"""
