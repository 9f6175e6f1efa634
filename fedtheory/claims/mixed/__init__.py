"""Mixed federated learning: parallel training, 1-way and 2-way gradient transfer."""
