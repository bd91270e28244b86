"""The gate at the end of a run: its verdict printed, its exit code returned."""
