"""What figures share: panels, the figure around them, and its style.

- `panels`: names and colours of values, curves with their spread over seeds, points and maps.
- `layout`: groups of panels in rows, titles, legends and notes, logarithmic axes.
- `style`: the style file of the project, and how a figure is written.
"""
