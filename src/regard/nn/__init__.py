"""What mechanisms are built into: recurrent cells, maxout, Transformer layers, output layers."""
