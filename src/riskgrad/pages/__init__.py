"""Pictures and pages: what a measure does, what a run did, what risk-sensitivity bought."""
