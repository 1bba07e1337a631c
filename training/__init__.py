"""How nano is made: corpus, tokenizer, model, training, export and evaluation. Development only."""
