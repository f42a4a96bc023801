"""What flows between the stages: frozen, columnar types that check themselves."""
