"""What networks are trained on.

- `sparse`: sparse linear teachers, and inputs on the sphere; `units`: ReLU teachers.
- `images`: sets of images, from files; `class_subsets`: telling some of their classes apart; `prepared_images`: batches
  as networks take them.
"""
