"""What the API takes and gives for tasks and how they come about; also the rows of exports."""
