"""A legend inside a panel, of what no other panel shows."""


def own_legend(ax, **told):
    """The legend of a panel within it; that of the figure leaves its entries out."""
    handles, names = ax.get_legend_handles_labels()
    ax.legend(handles, names, fontsize="small", **told)
    for handle, name in zip(handles, names, strict=True):
        handle.set_label(f"_{name}")
