"""Systems wired by name, evaluated and tuned on benchmarks."""
