"""The published runs of "Feature reuse" and of Fig. 1c of the implicit penalty, from their seeds.

`protocols` lists the runs and says how each was trained, `draws` draws what the authors drew.
"""
