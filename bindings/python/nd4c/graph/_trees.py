"""Nested tuples, lists and dicts of arrays, as traced functions take and give them: leaves, and the structure to put others in
their place."""


def flatten(tree, leaves):
    """Appends the leaves to a list. Returns the structure, which is hashable: None for a leaf."""
    kind = type(tree)
    if kind is tuple or kind is list:
        return kind, tuple([flatten(item, leaves) for item in tree])
    if kind is dict:
        return kind, tuple(tree), tuple([flatten(item, leaves) for item in tree.values()])
    if isinstance(tree, tuple) and hasattr(tree, "_fields"):
        return kind, tuple([flatten(item, leaves) for item in tree])
    leaves.append(tree)
    return None


def build(structure, leaves):
    """The tree of a structure, with its leaves from an iterator."""
    if structure is None:
        return next(leaves)
    kind, parts = structure[0], [build(part, leaves) for part in structure[-1]]
    if kind is dict:
        return dict(zip(structure[1], parts))
    return kind(*parts) if hasattr(kind, "_fields") else kind(parts)


def rebuilt(structure, leaves):
    """The tree of a structure and a list of leaves."""
    return build(structure, iter(leaves))
