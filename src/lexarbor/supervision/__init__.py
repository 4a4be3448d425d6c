"""What a model learns from: gold and weak pairs, negatives, and the guard that keeps dev and test out of all of it."""
