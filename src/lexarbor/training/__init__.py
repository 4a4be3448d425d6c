"""How models learn: stages with recipes. Needs the extra `train`; writes model folders that searching reads without it."""
