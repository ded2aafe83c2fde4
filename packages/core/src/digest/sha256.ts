/**
 * SHA-256 (FIPS 180-4): that of Node where it exists. Elsewhere in plain JavaScript, because that of Web Crypto is
 * asynchronous.
 */

const ROUNDS = 64

/** Round constants: the fractional parts of the first primes' cube roots, one for each round. */
const ROUND_CONSTANTS = Uint32Array.from(listPrimes(ROUNDS), (prime) =>
  takeFraction(Math.cbrt(prime)),
)

/** Initial state: the fractional parts of the first 8 primes' square roots. */
const INITIAL_STATE = Uint32Array.from(listPrimes(8), (prime) => takeFraction(Math.sqrt(prime)))

const BLOCK_BYTES = 64

/** Bytes at the end of the last block that hold the message length. */
const LENGTH_BYTES = 8

const encoder = new TextEncoder()

/** Node's hash function, ten times as fast; an import of it would not resolve in browsers. */
const nativeHash = globalThis.process?.getBuiltinModule?.('node:crypto').hash

/** Returns the SHA-256 of the UTF-8 bytes of `text`, as 64 hexadecimal digits. */
export const computeSha256: (text: string) => string =
  nativeHash === undefined ? computePlainSha256 : (text) => nativeHash('sha256', text, 'hex')

/** Implements {@link computeSha256} without Node. */
export function computePlainSha256(text: string): string {
  const bytes = padMessage(encoder.encode(text))
  const view = new DataView(bytes.buffer)
  const state = Uint32Array.from(INITIAL_STATE)
  const schedule = new Uint32Array(ROUNDS)
  for (let offset = 0; offset < bytes.length; offset += BLOCK_BYTES) {
    fillSchedule(schedule, view, offset)
    compress(state, schedule)
  }
  return Array.from(state, (word) => word.toString(16).padStart(8, '0')).join('')
}

/** Returns the message with a 1 bit, zeros, and its length in bits, as whole blocks. */
function padMessage(message: Uint8Array): Uint8Array<ArrayBuffer> {
  const blocks = Math.ceil((message.length + 1 + LENGTH_BYTES) / BLOCK_BYTES)
  const padded = new Uint8Array(blocks * BLOCK_BYTES)
  padded.set(message)
  padded[message.length] = 0x80
  const view = new DataView(padded.buffer)
  view.setBigUint64(padded.length - LENGTH_BYTES, BigInt(message.length) * 8n)
  return padded
}

/** Fills the message schedule of the block at `offset`. */
function fillSchedule(schedule: Uint32Array, view: DataView, offset: number): void {
  for (let index = 0; index < 16; index += 1) {
    schedule[index] = view.getUint32(offset + index * 4)
  }
  for (let index = 16; index < ROUNDS; index += 1) {
    const early = schedule[index - 15] ?? 0
    const late = schedule[index - 2] ?? 0
    const mixedEarly = rotate(early, 7) ^ rotate(early, 18) ^ (early >>> 3)
    const mixedLate = rotate(late, 17) ^ rotate(late, 19) ^ (late >>> 10)
    schedule[index] =
      ((schedule[index - 16] ?? 0) + mixedEarly + (schedule[index - 7] ?? 0) + mixedLate) | 0
  }
}

/** Updates the state with one block. */
function compress(state: Uint32Array, schedule: Uint32Array): void {
  let a = state[0] ?? 0
  let b = state[1] ?? 0
  let c = state[2] ?? 0
  let d = state[3] ?? 0
  let e = state[4] ?? 0
  let f = state[5] ?? 0
  let g = state[6] ?? 0
  let h = state[7] ?? 0
  for (let index = 0; index < ROUNDS; index += 1) {
    const mixedE = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)
    const chosen = (e & f) ^ (~e & g)
    const first = (h + mixedE + chosen + (ROUND_CONSTANTS[index] ?? 0) + (schedule[index] ?? 0)) | 0
    const mixedA = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)
    const majority = (a & b) ^ (a & c) ^ (b & c)
    h = g
    g = f
    f = e
    e = (d + first) | 0
    d = c
    c = b
    b = a
    a = (first + mixedA + majority) | 0
  }
  state[0] = (state[0] ?? 0) + a
  state[1] = (state[1] ?? 0) + b
  state[2] = (state[2] ?? 0) + c
  state[3] = (state[3] ?? 0) + d
  state[4] = (state[4] ?? 0) + e
  state[5] = (state[5] ?? 0) + f
  state[6] = (state[6] ?? 0) + g
  state[7] = (state[7] ?? 0) + h
}

function rotate(word: number, bits: number): number {
  return (word >>> bits) | (word << (32 - bits))
}

/** Returns the first 32 bits of the fractional part. */
function takeFraction(root: number): number {
  return Math.floor((root - Math.floor(root)) * 2 ** 32)
}

function listPrimes(count: number): readonly number[] {
  const primes: number[] = []
  for (let candidate = 2; primes.length < count; candidate += 1) {
    if (primes.every((prime) => candidate % prime !== 0)) primes.push(candidate)
  }
  return primes
}
