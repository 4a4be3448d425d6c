"""What a process that trains one model after another holds of a GPU. Without one, nothing is done."""

import gc

import torch


def free() -> None:
    """Give back what no model needs any longer. An exception may hold what did not fit until it is collected."""
    if torch.cuda.is_available():
        gc.collect()  # by itself a third of a second, in a process that has imported what trains
        torch.cuda.empty_cache()


def answers() -> bool:
    """Whether the GPU still answers this process: after some errors of it nothing does, until the process ends."""
    if not torch.cuda.is_available():
        return True
    try:
        return bool(torch.ones(1, device="cuda").item())
    except RuntimeError:
        return False
