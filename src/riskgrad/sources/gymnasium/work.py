"""The work that a source gives to a backend: to play a block, here or in another process.

Here it is the source's own environments that play. What travels to another process is how they are made, and there it
is the environments of that process.
"""

from dataclasses import dataclass

from riskgrad.sources.gymnasium.blocks import Block, Played
from riskgrad.sources.gymnasium.player import Player, Rules, play_in_worker


@dataclass(frozen=True)
class Work:
    """Plays blocks where the source is.

    Attributes:
        rules: how the environments are made elsewhere.
        player: who plays here.
    """

    rules: Rules
    player: Player

    def __call__(self, block: Block) -> Played:
        """Play all episodes of a block."""
        return self.player.play(block)

    def __reduce__(self) -> tuple[type["WorkElsewhere"], tuple[bytes]]:
        """Become the same work for another process; refuse an environment that cannot be made there."""
        return WorkElsewhere, (self.rules.packed(),)


@dataclass(frozen=True)
class WorkElsewhere:
    """Plays blocks in a process that makes environments of its own.

    Attributes:
        packed: the rules, as bytes.
    """

    packed: bytes

    def __call__(self, block: Block) -> Played:
        """Play all episodes of a block."""
        return play_in_worker((self.packed, block))
