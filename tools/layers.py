# SPDX-License-Identifier: BSD-2-Clause
"""src/LAYERS: which folder may use which. tools/lint compares includes with it, tools/structure symbols."""


def read_layers():
    """src/LAYERS as ({folder: layer}, {layer: folders that it may include}); a layer is called by its first folder."""
    layer_of, allowed, name = {}, {}, None
    with open("src/LAYERS") as file:
        for line in file:
            line = line.split("#")[0].rstrip()
            if not line:
                continue
            if not line[0].isspace():
                names, _, line = line.partition(":")
                name = names.split()[0]
                layer_of.update(dict.fromkeys(names.split(), name))
                allowed[name] = set()
            allowed[name].update(line.split())
    return layer_of, allowed


def is_within(folder, other):
    return folder == other or folder.startswith(other + "/")


def uses_of(layer_of, allowed):
    """{layer: layers that it may include}: names stand for all below them, and those within a folder that may not include
    it may be included by it."""
    uses = {}
    for layer, others in allowed.items():
        within = {folder for folder in layer_of if folder.startswith(layer + "/") and layer not in allowed[layer_of[folder]]}
        named = {folder for folder in layer_of for other in others
                 if is_within(folder, other) and not (folder != other and is_within(layer, other))}
        uses[layer] = {layer_of[folder] for folder in within | named} - {layer}
    return uses
