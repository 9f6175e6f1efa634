"""Work in several processes: executors, pickling of kernels, and arrays in shared memory. Nothing
here knows what the work is."""
