/**
 * Keeps the heap of the process small. V8 sizes it for programs that make as much as they can keep: after
 * some thousand runs it holds 200 MiB of young and dead objects around 20 MiB that live.
 *
 * The flags are set by the process itself, as no way of passing them holds wherever the program is started:
 * `env -S` in a first line is not there in Alpine, NODE_OPTIONS belongs to whoever starts it, and starting a
 * second process costs its memory and its time. Both are read anew at every collection.
 */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Bounds the heap from now on: young objects to what they have, old ones to a third above what lives. */
export function limitMemory(): void {
  setFlagsFromString('--semi-space-growth-factor=1')
  setFlagsFromString('--heap-growing-percent=30')
}

/**
 * Collects what starting has left, in about 15 ms. Until the first full collection, which would come after
 * another 100 MiB, V8 does not know how much lives.
 */
export function collectOnce(): void {
  setFlagsFromString('--expose-gc')
  const collect: unknown = runInNewContext('gc')
  setFlagsFromString('--no-expose-gc')
  if (typeof collect === 'function') collect()
}
