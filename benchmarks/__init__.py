"""Speed and scale: ``python -m benchmarks`` measures, writes results/, and fails on a miss."""
