"""Trains in a pool of local processes, without a JVM: the light runner.

Waybills come in, manifests go out. The driver (`runner`, `pool`, `zygote`) starts one process, which loads
the kernels and forks the workers (`zygote_main`, `worker_loop`).
"""
