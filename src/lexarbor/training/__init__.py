"""How models learn: stages with recipes. Needs the extra `train`; what it writes is searched without it."""
