/**
 * Limits the heap of the process. V8 sizes it for throughput: after some thousand runs, half of it are young objects, most of
 * them dead, and limiting these costs no measurable time. A limit of the old objects would: at 30 % above the live ones, the
 * collections took a quarter of the processor time of a run, for 80 MiB.
 *
 * The process sets the flags itself, since no way of passing them works everywhere: Alpine has no `env -S` for the first
 * line, NODE_OPTIONS belongs to the user, and a second process costs memory and time. V8 reads the flag at every
 * collection.
 */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Limits the young generation to its current size. */
export function limitMemory(): void {
  setFlagsFromString('--semi-space-growth-factor=1')
}

/**
 * Collects the garbage of the start, in about 15 ms. Until the first full collection, which would come after another
 * 100 MiB, V8 does not know the size of the live objects.
 */
export function collectOnce(): void {
  setFlagsFromString('--expose-gc')
  const collect: unknown = runInNewContext('gc')
  setFlagsFromString('--no-expose-gc')
  if (typeof collect === 'function') collect()
}
