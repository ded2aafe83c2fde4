/** Outputs of handlers with files, URLs or data. */
import { TuttiError } from '@tutti/core'
import type { MessagePart } from '@tutti/core/internal'

/** Options of {@link handlerOutput}. */
export interface HandlerOutputOptions {
  /** Text that later tasks receive. */
  readonly text: string
  /** The output as a value, when the task declares an output schema. */
  readonly value?: unknown
  /** Files, URLs and data in the order in which A2A clients receive them, instead of `text` and `value`. */
  readonly parts: readonly MessagePart[]
}

/** An output with parts; created by {@link handlerOutput}. */
export class HandlerOutput {
  readonly text: string
  readonly value: unknown
  readonly parts: readonly MessagePart[]

  constructor({ text, value, parts }: HandlerOutputOptions) {
    this.text = text
    this.value = value
    this.parts = parts
  }
}

const CONTENTS = ['text', 'raw', 'url', 'data'] as const

/**
 * Creates the output of a handler with files, URLs or data for A2A clients.
 *
 * @throws {TypeError} naming every part that does not have exactly one of text, raw, url and data.
 */
export function handlerOutput(options: HandlerOutputOptions): HandlerOutput {
  const problems = options.parts.flatMap((part, at) => {
    const given = CONTENTS.filter((name) => part[name] !== undefined)
    return given.length === 1 ? [] : [`parts/${at} has ${given.join(' and ') || 'none'}`]
  })
  if (options.parts.length === 0) problems.push('parts is empty')
  if (problems.length === 0) return new HandlerOutput(options)
  throw new TypeError(
    `Invalid output: each part must have exactly one of ${CONTENTS.join(', ')}: ${problems.join('; ')}`,
  )
}

/**
 * Creates the error with which a handler rejects the request of its run. The task and the run fail with the
 * code REQUEST_REJECTED and are not retried; A2A clients see the state REJECTED.
 */
export function requestRejected(reason: string): TuttiError {
  return new TuttiError('REQUEST_REJECTED', reason)
}
