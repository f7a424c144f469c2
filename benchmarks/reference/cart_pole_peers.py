"""CartPole-v1 by its peers: gymnax in a while-loop, evosax's GymnaxProblem, EvoTorch's GymNE.

    python cart_pole_peers.py gymnax|evosax|evotorch policies.npz EPISODES SECONDS

All play linear policies thetas [P, 8], m episodes each, on one core; the first two draw actions from the softmax,
GymNE takes the largest output, as it does. It prints nanoseconds per useful step as JSON: the processor time of a whole
call, the best in so many seconds, divided by the steps inside the counted episodes. What a lane does after its episode
is over, while others go on, is not a step.
"""

import json
import os
import sys
import time
from collections.abc import Callable

if hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})  # before JAX counts the cores

import numpy as np


def gymnax_loop(thetas: np.ndarray, episodes: int) -> Callable[[int], int]:
    """One episode as a while-loop, mapped over episodes and policies; `step_env`, which does not reset in each step."""
    import gymnax  # noqa: PLC0415
    import jax  # noqa: PLC0415
    import jax.numpy as jnp  # noqa: PLC0415

    env, params = gymnax.make("CartPole-v1")

    def episode(weights: jax.Array, key: jax.Array) -> tuple[jax.Array, jax.Array]:
        key, begin = jax.random.split(key)
        observation, state = env.reset_env(begin, params)

        def step(carry: tuple) -> tuple:
            key, observation, state, _, total = carry
            key, use, move = jax.random.split(key, 3)
            action = jax.random.categorical(use, observation @ weights)
            observation, state, reward, done, _ = env.step_env(move, state, action, params)
            return key, observation, state, done, total + reward

        first = (key, observation, state, jnp.bool_(False), jnp.float32(0.0))
        going = lambda carry: ~carry[3] & (carry[2].time < params.max_steps_in_episode)  # noqa: E731
        _, _, state, _, total = jax.lax.while_loop(going, step, first)
        return total, state.time

    weights = jnp.asarray(thetas.reshape(-1, 4, 2), dtype=jnp.float32)
    many = jax.jit(jax.vmap(jax.vmap(episode, (None, 0)), (0, 0)))

    def call(seed: int) -> int:
        keys = jax.random.split(jax.random.key(seed), (len(thetas), episodes))
        return int(np.sum(np.asarray(many(weights, keys)[1])))

    return call


def evosax_problem(thetas: np.ndarray, episodes: int) -> Callable[[int], int]:
    import jax  # noqa: PLC0415
    import jax.numpy as jnp  # noqa: PLC0415
    from evosax.problems import GymnaxProblem  # noqa: PLC0415
    from flax import linen  # noqa: PLC0415

    class Linear(linen.Module):
        @linen.compact
        def __call__(self, observation: jax.Array, key: jax.Array) -> jax.Array:
            return jax.random.categorical(key, linen.Dense(2, use_bias=False)(observation))

    problem = GymnaxProblem("CartPole-v1", Linear(), num_rollouts=episodes, use_normalize_obs=False)
    state = problem.init(jax.random.key(0))
    weights = jnp.asarray(thetas.reshape(-1, 4, 2), dtype=jnp.float32)
    solutions = {"params": {"Dense_0": {"kernel": weights}}}

    def call(seed: int) -> int:
        fitness, _, _ = problem.eval(jax.random.key(seed), solutions, state)
        return round(float(np.sum(np.asarray(fitness))) * episodes)  # each step pays 1

    return call


def evotorch_problem(thetas: np.ndarray, episodes: int) -> Callable[[int], int]:
    import torch  # noqa: PLC0415
    from evotorch import SolutionBatch  # noqa: PLC0415
    from evotorch.neuroevolution import GymNE  # noqa: PLC0415

    torch.set_num_threads(1)
    network = "Linear(obs_length, act_length, bias=False)"
    problem = GymNE("CartPole-v1", network, num_episodes=episodes, observation_normalization=False)
    # torch keeps [outputs, inputs]
    values = torch.as_tensor(np.swapaxes(thetas.reshape(-1, 4, 2), 1, 2).reshape(-1, 8), dtype=torch.float32)

    def call(seed: int) -> int:
        del seed
        before = int(problem.status.get("total_interaction_count", 0) or 0)
        batch = SolutionBatch(problem, popsize=len(values), empty=True)
        batch.set_values(values)
        problem.evaluate(batch)
        return int(problem.status["total_interaction_count"]) - before

    return call


PEERS = {"gymnax": gymnax_loop, "evosax": evosax_problem, "evotorch": evotorch_problem}


def main() -> None:
    name, path, episodes, seconds = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
    thetas = np.load(path)["thetas"]
    if name == "evotorch":
        thetas, episodes = thetas[:4], min(episodes, 4)
    call = PEERS[name](thetas, episodes)
    call(0)  # compiles
    best, seed, stop = float("inf"), 0, time.perf_counter() + seconds
    while seed == 0 or time.perf_counter() < stop:
        seed += 1
        begin = time.process_time()
        steps = call(seed)
        best = min(best, (time.process_time() - begin) / steps)
    print(json.dumps({"nanoseconds": best * 1e9}))


if __name__ == "__main__":
    main()
