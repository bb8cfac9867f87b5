"""A real llama.cpp server with a model that knows nothing: serve.py FOLDER PORT.

The model has random weights and a vocabulary of bytes. Held to a grammar it still answers in the wanted shape, so requests,
replies, deadlines and caches are tried on the real thing. Needs xllamacpp, gguf and numpy from PyPI.
"""

import os
import sys
import time

import gguf
import numpy as np
import xllamacpp

WIDTH, LAYERS, HEADS, INNER = 32, 1, 2, 64
CONTEXT = 65536


def vocabulary():
    """Three control tokens, every byte, and a few pieces so that there is something to choose from."""
    tokens = [(b"<unk>", gguf.TokenType.UNKNOWN, 0.0), (b"<s>", gguf.TokenType.CONTROL, 0.0), (b"</s>", gguf.TokenType.CONTROL, 0.0)]
    tokens += [(b"<0x%02X>" % byte, gguf.TokenType.BYTE, 0.0) for byte in range(256)]
    pieces = ["\u2581", "the ", "allow", "block", '"', "{", "}", ":", ",", "e", "t", "a", "o", "n"]
    tokens += [(piece.encode(), gguf.TokenType.NORMAL, -float(rank + 1)) for rank, piece in enumerate(pieces)]
    while len(tokens) % 32:
        tokens.append((b"<unused%d>" % len(tokens), gguf.TokenType.UNUSED, 0.0))
    return tokens


def make(path):
    """Writes the model."""
    chance = np.random.default_rng(3)
    tokens = vocabulary()
    out = gguf.GGUFWriter(path, "llama")
    out.add_name("knows-nothing")
    out.add_context_length(CONTEXT)
    out.add_embedding_length(WIDTH)
    out.add_block_count(LAYERS)
    out.add_feed_forward_length(INNER)
    out.add_head_count(HEADS)
    out.add_head_count_kv(HEADS)
    out.add_layer_norm_rms_eps(1e-5)
    out.add_rope_dimension_count(WIDTH // HEADS)
    out.add_file_type(gguf.LlamaFileType.ALL_F32)
    out.add_vocab_size(len(tokens))
    out.add_tokenizer_model("llama")
    out.add_token_list([text for text, _, _ in tokens])
    out.add_token_types([kind for _, kind, _ in tokens])
    out.add_token_scores([score for _, _, score in tokens])
    out.add_unk_token_id(0)
    out.add_bos_token_id(1)
    out.add_eos_token_id(2)
    out.add_add_bos_token(True)
    out.add_chat_template("{% for m in messages %}{{ m['role'] }}: {{ m['content'] }}\n{% endfor %}assistant:")

    def weights(name, *shape):
        out.add_tensor(name, (chance.standard_normal(shape) * 0.05).astype(np.float32))

    # Whatever was said, it likes to close what is open: answers stay short.
    likes = np.zeros((len(tokens), 1), np.float32)
    likes[3 + ord('"')] = 1.0
    likes[3 + ord("}")] = 0.5
    out.add_tensor("token_embd.weight", (chance.standard_normal((len(tokens), WIDTH)) * 0.05 + 1.0).astype(np.float32))
    out.add_tensor("output.weight", (chance.standard_normal((len(tokens), WIDTH)) * 0.05 + likes).astype(np.float32))
    out.add_tensor("output_norm.weight", np.ones(WIDTH, np.float32))
    for layer in range(LAYERS):
        for name in ("attn_norm", "ffn_norm"):
            out.add_tensor(f"blk.{layer}.{name}.weight", np.ones(WIDTH, np.float32))
        for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
            weights(f"blk.{layer}.{name}.weight", WIDTH, WIDTH)
        weights(f"blk.{layer}.ffn_gate.weight", INNER, WIDTH)
        weights(f"blk.{layer}.ffn_up.weight", INNER, WIDTH)
        weights(f"blk.{layer}.ffn_down.weight", WIDTH, INNER)
    out.write_header_to_file()
    out.write_kv_data_to_file()
    out.write_tensors_to_file()
    out.close()


def main():
    folder, port = sys.argv[1], int(sys.argv[2])
    path = os.path.join(folder, "model.gguf")
    make(path)
    params = xllamacpp.CommonParams()
    params.model.path = path
    params.n_ctx = CONTEXT
    params.n_parallel = 1
    params.warmup = False
    params.cpuparams.n_threads = 1
    params.cpuparams_batch.n_threads = 1
    params.port = port
    server = xllamacpp.Server(params)
    print("listening", server.listening_address, flush=True)
    parent = os.getppid()
    # Ends with whoever started it.
    while os.getppid() == parent:
        time.sleep(0.2)


main()
