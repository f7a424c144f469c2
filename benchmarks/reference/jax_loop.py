"""The sampler in JAX, written in two ways, as while-loops over the same table.

    python jax_loop.py model.npz EPISODES

`mapped` is one episode as a while-loop, mapped over episodes and policies: the usual way. `lockstep` is batched by
hand: one loop in which all episodes advance together until the last one ends. Both keep the sampler's promise that the
numbers of an episode are a function of its own key, whatever else is played, and run on one core, as the sampler does
in this comparison. It prints nanoseconds per step as JSON: the processor time of a whole compiled call (softmax,
tables, episodes), the best of a few, divided by the steps that were played.
"""

import json
import os
import sys
import time
from collections.abc import Callable

if hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})  # before JAX counts the cores

import jax
import jax.numpy as jnp
import numpy as np


def tables(model: dict[str, np.ndarray]) -> tuple[jax.Array, ...]:
    """Lay the outcomes out as [S * A, W], padded: running sums of chances, next states, rewards, ends."""
    counts = np.diff(model["offsets"])
    width = int(np.max(counts))
    sums = np.ones((len(counts), width), dtype=np.float32)
    nexts, rewards = np.zeros((len(counts), width), dtype=np.int32), np.zeros((len(counts), width), dtype=np.float32)
    ends = np.zeros((len(counts), width), dtype=bool)
    for row, (begin, count) in enumerate(zip(model["offsets"][:-1], counts, strict=True)):
        part = slice(begin, begin + count)
        sums[row, : max(count - 1, 0)] = np.cumsum(model["probabilities"][part])[:-1]
        nexts[row, :count], rewards[row, :count] = model["next_states"][part], model["rewards"][part]
        ends[row, :count] = model["ends"][part]
    return tuple(jnp.asarray(table) for table in (sums[:, :-1], nexts, rewards, ends))


def mapped(model: dict[str, np.ndarray], episodes: int) -> Callable:
    n_actions, horizon, start = int(model["shape"][1]), int(model["shape"][2]), int(model["start"])
    heads, nexts, rewards, ends = tables(model)

    def episode(sums: jax.Array, key: jax.Array) -> tuple[jax.Array, jax.Array]:
        def going(carry: tuple) -> jax.Array:
            return (carry[0] < horizon) & ~carry[3]

        def step(carry: tuple) -> tuple:
            t, key, state, _, total = carry
            key, use = jax.random.split(key)
            numbers = jax.random.uniform(use, (2,), dtype=jnp.float32)
            pair = state * n_actions + jnp.sum(numbers[0] >= sums[state])
            pick = jnp.sum(numbers[1] >= heads[pair])
            return t + 1, key, nexts[pair, pick], ends[pair, pick], total + rewards[pair, pick]

        first = (0, key, jnp.int32(start), jnp.bool_(False), jnp.float32(0.0))
        length, _, _, _, total = jax.lax.while_loop(going, step, first)
        return total, length

    def play(sums: jax.Array, key: jax.Array) -> tuple[jax.Array, jax.Array]:
        keys = jax.random.split(key, (len(sums), episodes))
        return jax.vmap(jax.vmap(episode, in_axes=(None, 0)))(sums, keys)

    return play


def lockstep(model: dict[str, np.ndarray], episodes: int) -> Callable:
    n_actions, horizon, start = int(model["shape"][1]), int(model["shape"][2]), int(model["start"])
    heads, nexts, rewards, ends = tables(model)

    def play(sums: jax.Array, key: jax.Array) -> tuple[jax.Array, jax.Array]:
        rows = jnp.repeat(jnp.arange(len(sums)), episodes)
        keys = jax.random.split(key, len(rows))

        def going(carry: tuple) -> jax.Array:
            return (carry[0] < horizon) & jnp.any(carry[2])

        def step(carry: tuple) -> tuple:
            t, states, alive, totals, lengths = carry
            words = jax.vmap(lambda key: jax.random.bits(jax.random.fold_in(key, t), (2,), dtype=jnp.uint32))(keys)
            numbers = words.astype(jnp.float32) * jnp.float32(2**-32)
            pairs = states * n_actions + jnp.sum(numbers[:, :1] >= sums[rows, states], axis=-1)
            picks = jnp.sum(numbers[:, 1:] >= heads[pairs], axis=-1)
            totals = totals + jnp.where(alive, rewards[pairs, picks], 0.0)
            return t + 1, nexts[pairs, picks], alive & ~ends[pairs, picks], totals, lengths + alive

        size = len(rows)
        states, alive = jnp.full(size, start, dtype=jnp.int32), jnp.ones(size, dtype=bool)
        totals, lengths = jnp.zeros(size, dtype=jnp.float32), jnp.zeros(size, dtype=jnp.int32)
        carry = jax.lax.while_loop(going, step, (0, states, alive, totals, lengths))
        return carry[3], carry[4]

    return play


def nanoseconds(play: Callable, thetas: jax.Array, shape: tuple[int, int]) -> float:
    @jax.jit
    def call(thetas: jax.Array, key: jax.Array) -> tuple[jax.Array, jax.Array]:
        chances = jax.nn.softmax(thetas.reshape(-1, *shape), axis=-1)
        return play(jnp.cumsum(chances, axis=-1)[..., :-1], key)

    jax.block_until_ready(call(thetas, jax.random.key(0)))
    best = float("inf")
    for seed in range(1, 4):
        begin = time.process_time()
        _, lengths = jax.block_until_ready(call(thetas, jax.random.key(seed)))
        best = min(best, (time.process_time() - begin) / int(np.sum(lengths)) * 1e9)
    return best


def main(path: str, episodes: int) -> None:
    with np.load(path, allow_pickle=False) as stored:
        model = {name: stored[name] for name in stored.files}
    shape = (int(model["shape"][0]), int(model["shape"][1]))
    thetas = jnp.asarray(model["thetas"], dtype=jnp.float32)
    ways = {"mapped": mapped, "lockstep": lockstep}
    print(json.dumps({name: nanoseconds(way(model, episodes), thetas, shape) for name, way in ways.items()}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
