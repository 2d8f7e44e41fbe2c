"""What is asked of recorded games: who did better, by how much, how sure that is."""
