"""`python -m riskgrad.cli` is `riskgrad`."""

from riskgrad.cli import main

main()
