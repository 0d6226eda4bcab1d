"""What networks are trained on.

- `sparse`: sparse linear teachers, and inputs on the sphere; `units`: ReLU teachers.
- `images`: sets of images, from files; `image_tasks`: telling some of their classes apart, and batches as networks take
  them.
"""
