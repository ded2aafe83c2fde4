/**
 * Pure: limits the size of error bodies. Without a limit, the answer to a request with many invalid fields is many
 * times as large as the request.
 *
 * GW-B1 The message and each text of a problem are cut. Problems beyond the limit are counted, not sent.
 * GW-B2 A body has at most `MAX_ERROR_BYTES` as JSON on every wire, including wires that repeat the message.
 */
import type { ErrorBody } from '@tutti/protocol'
import { formatMoreProblems, shortText, type Problem } from '@tutti/protocol/internal'

/** Maximum size of an error body on every wire, in bytes of JSON. */
export const MAX_ERROR_BYTES = 16_384

/** Maximum sizes of the message, which two wires send twice, and of the problems. The rest is for codes and ids. */
const MAX_MESSAGE_BYTES = 2_048
const MAX_PROBLEMS_BYTES = 10_240

const MAX_PATH_LENGTH = 300
const MAX_TEXT_LENGTH = 500

/** Maximum number of problems in a body. */
const MAX_PROBLEMS = 100

/** Number of problems that the message contains too: often a person sees only the message. */
const PROBLEMS_IN_MESSAGE = 5

/** Formats the first problems as one line of text, with the number of the others. */
export function formatProblems(problems: readonly Problem[]): string {
  const shown = problems
    .slice(0, PROBLEMS_IN_MESSAGE)
    .map(({ path, message }) => shortText(path === '' ? message : `${path} ${message}`, 300))
  const rest = problems.length - shown.length
  return rest === 0 ? shown.join('; ') : `${shown.join('; ')}; and ${formatMoreProblems(rest)}`
}

/** Limits an error body. */
export function limitBody(body: ErrorBody): ErrorBody {
  const { problems, message, requestId } = body
  return {
    ...body,
    message: limitMessage(message),
    ...(problems === undefined ? {} : { problems: limitProblems(problems) }),
    ...(requestId === undefined ? {} : { requestId: shortText(requestId, 200) }),
  }
}

/** Cuts a message to at most 2 KiB as JSON. */
export function limitMessage(message: string): string {
  const cut = shortText(message, MAX_MESSAGE_BYTES - 2)
  if (jsonBytes(cut) <= MAX_MESSAGE_BYTES) return cut
  // A character takes up to six bytes as JSON.
  return shortText(message, Math.floor(MAX_MESSAGE_BYTES / 6) - 1)
}

/** Returns the problems within the limit, and one that counts the others. */
export function limitProblems(problems: readonly Problem[]): Problem[] {
  const fitting: Problem[] = []
  let bytes = 0
  for (const problem of problems.slice(0, MAX_PROBLEMS)) {
    const limited = limitProblem(problem)
    bytes += jsonBytes(limited)
    if (bytes > MAX_PROBLEMS_BYTES) break
    fitting.push(limited)
  }
  const rest = problems.length - fitting.length
  return rest === 0
    ? fitting
    : [...fitting, { path: '', message: `has ${formatMoreProblems(rest)}` }]
}

function limitProblem({ path, message, expected, received }: Problem): Problem {
  return {
    path: shortText(path, MAX_PATH_LENGTH),
    message: shortText(message, MAX_TEXT_LENGTH),
    ...(expected === undefined ? {} : { expected: shortText(expected, MAX_TEXT_LENGTH) }),
    ...(received === undefined ? {} : { received: limitValue(received) }),
  }
}

/** Limits a received value. Schema validation has cut it already; other sources of problems have not. */
function limitValue(value: unknown): unknown {
  if (typeof value === 'string') return shortText(value, MAX_TEXT_LENGTH)
  return typeof value === 'object' ? shortText(JSON.stringify(value), MAX_TEXT_LENGTH) : value
}

function jsonBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value))
}
