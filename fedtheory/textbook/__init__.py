"""What every proof takes from the textbooks, proved once from a short list of axioms, and what it
says of the quantities that the papers measure."""
