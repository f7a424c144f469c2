"""Makes `python -m riskgrad.cli` the same as `riskgrad`."""

from riskgrad.cli import main

main()
