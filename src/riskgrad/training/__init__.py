"""The loop around an algorithm: the problem it sees, batches, held-out judging, the record, checkpoints, stopping.

An algorithm is a frozen value whose `step(problem, state) -> (state, info)` is all there is to it; nothing here knows
one by name.
"""
