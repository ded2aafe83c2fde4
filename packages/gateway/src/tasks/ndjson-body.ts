/**
 * The body of a stream of JSON values, one a line.
 *
 * N1 The body is pulled: a reader that does not read holds back its own stream and nothing else.
 * N2 After a time of silence an empty line is sent, which readers pass over and which shows them that
 *    somebody is there.
 *
 * @see https://github.com/ndjson/ndjson-spec, which lets a reader pass over empty lines
 */
import { sleep, type Clock } from '@tutti/core'

/** How the body is sent. */
export interface NdjsonBodyOptions {
  readonly clock: Clock
  /** Longest silence, in milliseconds. */
  readonly keepAliveMs: number
  /** Aborted when the reader leaves. */
  readonly stop: AbortController
}

/** Makes the body of lists of values; it ends with them. */
export function ndjsonBody(
  values: AsyncGenerator<readonly unknown[]>,
  { clock, keepAliveMs, stop }: NdjsonBodyOptions,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  let next: Promise<IteratorResult<readonly unknown[]>> | undefined
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        next ??= values.next()
        const arrived = await orSilence(next, clock, keepAliveMs)
        if (arrived === SILENCE) {
          controller.enqueue(encoder.encode('\n'))
          return
        }
        next = undefined
        if (arrived.done === true) controller.close()
        else controller.enqueue(encoder.encode(arrived.value.map(lineOf).join('')))
      },
      cancel() {
        stop.abort()
      },
    },
    { highWaterMark: 0 },
  )
}

const SILENCE = Symbol('silence')

/** What `promise` gives, or SILENCE when it takes longer. */
async function orSilence<T>(
  promise: Promise<T>,
  clock: Clock,
  silenceMs: number,
): Promise<T | typeof SILENCE> {
  const patience = new AbortController()
  try {
    const silence = sleep(clock, silenceMs, patience.signal).then((): typeof SILENCE => SILENCE)
    return await Promise.race([promise, silence])
  } finally {
    patience.abort()
  }
}

function lineOf(value: unknown): string {
  return `${JSON.stringify(value)}\n`
}
