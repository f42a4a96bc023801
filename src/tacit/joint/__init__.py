"""Several releases under one attack: their lines as statements about boxes, bounds on a cube of groups, programs, proofs in weights."""
