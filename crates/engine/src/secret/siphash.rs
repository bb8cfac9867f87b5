//! SipHash-2-4: a short keyed hash that stands for a secret without telling it.

/// Hashes `data` under `key`.
pub(super) fn siphash(key: &[u8; 16], data: &[u8]) -> u64 {
    let (k0, k1) = halves(key);
    let mut state = State {
        v0: k0 ^ 0x736f_6d65_7073_6575,
        v1: k1 ^ 0x646f_7261_6e64_6f6d,
        v2: k0 ^ 0x6c79_6765_6e65_7261,
        v3: k1 ^ 0x7465_6462_7974_6573,
    };
    let mut blocks = data.chunks_exact(8);
    for block in blocks.by_ref() {
        state.absorb(little(block));
    }
    state.absorb(little(blocks.remainder()) | ((data.len() as u64) << 56));
    state.v2 ^= 0xff;
    (0..4).for_each(|_| state.round());
    state.v0 ^ state.v1 ^ state.v2 ^ state.v3
}

struct State {
    v0: u64,
    v1: u64,
    v2: u64,
    v3: u64,
}

impl State {
    fn absorb(&mut self, word: u64) {
        self.v3 ^= word;
        self.round();
        self.round();
        self.v0 ^= word;
    }

    fn round(&mut self) {
        self.v0 = self.v0.wrapping_add(self.v1);
        self.v1 = self.v1.rotate_left(13) ^ self.v0;
        self.v0 = self.v0.rotate_left(32);
        self.v2 = self.v2.wrapping_add(self.v3);
        self.v3 = self.v3.rotate_left(16) ^ self.v2;
        self.v0 = self.v0.wrapping_add(self.v3);
        self.v3 = self.v3.rotate_left(21) ^ self.v0;
        self.v2 = self.v2.wrapping_add(self.v1);
        self.v1 = self.v1.rotate_left(17) ^ self.v2;
        self.v2 = self.v2.rotate_left(32);
    }
}

fn halves(key: &[u8; 16]) -> (u64, u64) {
    let whole = u128::from_le_bytes(*key);
    (whole as u64, (whole >> 64) as u64)
}

/// Up to eight bytes, the first one lowest.
fn little(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |word, byte| (word << 8) | u64::from(*byte))
}
