"""One file a layout of LoRA files; all give an `engine.checkpoint.lora.LoraFile`."""
