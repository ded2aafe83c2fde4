/**
 * Runs each call in its own child process.
 *
 *   {"input": …} ─stdin─▶ program ─stdout, stderr, exit─▶ ToolResult
 *
 * REMOTE-O1 The request is compact JSON without a newline, and stdin is closed after it. A program need not read it.
 * REMOTE-O2 Writing and reading overlap, so neither the tool nor the program blocks the other.
 * REMOTE-O3 An aborted call ends when its program and the descendants of the program have ended.
 * REMOTE-O4 A failure contains what the program has printed, within the limits, also when its time has run out.
 */
import { basename } from 'node:path'

import { ToolResult, type ToolContext } from '@tutti/core'
import { errorMessage, formatExactJson, limitText, reportPartialOutput } from '@tutti/core/internal'
import { startProcess, type ProcessExit, type RunningProcess } from '@tutti/net/internal'

import { logDebug } from './log-debug.ts'
import { isProtocolAnswer, readProcessAnswer } from './read-answer.ts'

import type { ResolvedProgramOptions } from './options.ts'

/** One call of a process tool. */
export interface ProcessCall {
  readonly input: unknown
  readonly context: ToolContext
}

/** Starts the program, sends the input and reads the answer. `closing` ends the program as the call's signal does. */
export async function runOnce(
  { input, context }: ProcessCall,
  options: ResolvedProgramOptions,
  { closing }: { readonly closing: AbortSignal },
): Promise<ToolResult> {
  const { signal, logger } = context
  if (signal.aborted) return interruptedResult(options, signal)
  const request = formatExactJson({ input })
  const start = await startProcess(options, createCallVariables(context))
  if (!start.ok) return ToolResult.failure(start.message)
  const { process: program } = start
  const stdout = collect(program.stdout, options.maxOutputBytes)
  const stderr = collect(program.stderr, options.maxOutputBytes)
  program.stdin.on('error', (error) => {
    logDebug(logger, 'Program did not read its input', { command: options.command, error })
  })
  program.stdin.end(request)
  const printed = (): string => joinOutput(stderr.text(), stdout.text())
  const onAbort = (): void => {
    reportPartialOutput(signal, limitText(printed(), PARTIAL_LENGTH))
  }
  signal.addEventListener('abort', onAbort, { once: true })
  const exit = await awaitExitOrEnd(program, [signal, closing])
  signal.removeEventListener('abort', onAbort)
  if (exit === undefined) {
    return interruptedResult(options, signal.aborted ? signal : closing, printed())
  }
  const errors = stderr.text()
  if (exit.code !== 0) return failedExit(exit, { stdout: stdout.text(), stderr: errors }, options)
  if (errors !== '') {
    logDebug(logger, 'Program wrote to stderr', { command: options.command, stderr: errors })
  }
  return readProcessAnswer(stdout.text(), options)
}

/** Returns the result of an aborted call. */
export function interruptedResult(
  { command }: ResolvedProgramOptions,
  signal: AbortSignal,
  output = '',
): ToolResult {
  const reason = `Process "${basename(command)}" was ended: ${errorMessage(signal.reason)}`
  const printed = limitText(output, PARTIAL_LENGTH)
  return ToolResult.failure(printed === '' ? reason : `${reason}\n${printed}`)
}

/** Maximum number of characters of the output of an aborted call. */
export const PARTIAL_LENGTH = 10_000

/**
 * Returns the environment variables that describe the call.
 *
 * @see https://opentelemetry.io/docs/specs/otel/context/env-carriers/ on the names of the trace
 */
function createCallVariables({
  idempotencyKey,
  runId,
  traceparent,
  tracestate,
}: ToolContext): Record<string, string> {
  return {
    TUTTI_IDEMPOTENCY_KEY: idempotencyKey,
    ...(runId === undefined ? {} : { TUTTI_RUN_ID: runId }),
    ...(traceparent === undefined ? {} : { TRACEPARENT: traceparent }),
    ...(tracestate === undefined ? {} : { TRACESTATE: tracestate }),
  }
}

function collect(pipe: RunningProcess['stdout'], maxBytes: number): BoundedOutput {
  const output = new BoundedOutput(maxBytes)
  pipe.on('data', (chunk: Uint8Array) => {
    output.add(chunk)
  })
  return output
}

/** Resolves with the exit of the program; undefined when a signal aborted first and the process tree has ended. */
async function awaitExitOrEnd(
  program: RunningProcess,
  signals: readonly AbortSignal[],
): Promise<ProcessExit | undefined> {
  const aborted = Promise.withResolvers<undefined>()
  const end = (): void => {
    void program.end().then(() => {
      aborted.resolve(undefined)
    })
  }
  for (const signal of signals) signal.addEventListener('abort', end, { once: true })
  const isAborted = (): boolean => signals.some((signal) => signal.aborted)
  if (isAborted()) end()
  const exit = await Promise.race([program.ended, aborted.promise])
  for (const signal of signals) signal.removeEventListener('abort', end)
  return isAborted() ? undefined : exit
}

interface PrintedText {
  readonly stdout: string
  readonly stderr: string
}

/**
 * Returns the result of a failed exit: what the program printed, because compilers and test runners print their findings
 * to stdout, otherwise the exit code or signal.
 */
function failedExit(
  { code, signal }: ProcessExit,
  { stdout, stderr }: PrintedText,
  options: ResolvedProgramOptions,
): ToolResult {
  const answer = isProtocolAnswer(stdout) ? readProcessAnswer(stdout, options) : undefined
  const isFailure = answer?.success === false
  // An answer that reports success contradicts the exit, and explains nothing.
  const said = answer === undefined ? stdout : isFailure ? (answer.errorMessage ?? '') : ''
  const printed = joinOutput(stderr, said)
  const how =
    signal === null ? `Process exited with code ${code}` : `Process was killed by ${signal}`
  const isExplained = signal === null && (stderr !== '' || isFailure)
  const reason = isExplained ? printed : [how, printed].filter((text) => text !== '').join(': ')
  const failure = ToolResult.failure(reason)
  const structured = isFailure ? answer.structured : undefined
  return structured === undefined ? failure : Object.assign(failure, { structured })
}

function joinOutput(stderr: string, stdout: string): string {
  return [stderr, stdout].filter((text) => text !== '').join('\n')
}

/** Runs calls; `close` ends those in flight. */
export class OnceRunner {
  readonly #options: ResolvedProgramOptions
  readonly #closing = new AbortController()
  readonly #inFlight = new Set<Promise<ToolResult>>()

  constructor(options: ResolvedProgramOptions) {
    this.#options = options
  }

  async run(call: ProcessCall): Promise<ToolResult> {
    const closing = this.#closing.signal
    if (closing.aborted) return ToolResult.failure('Tool is closed')
    const running = runOnce(call, this.#options, { closing })
    this.#inFlight.add(running)
    try {
      return await running
    } finally {
      this.#inFlight.delete(running)
    }
  }

  /** Ends the calls in flight. Resolves when they have ended. Never rejects. */
  async close(): Promise<void> {
    this.#closing.abort(new Error('Tool is closed'))
    await Promise.allSettled(this.#inFlight)
  }
}

/** Retains the first bytes of a stream and drops the rest. */
export class BoundedOutput {
  readonly #maxBytes: number
  readonly #chunks: Uint8Array[] = []
  #bytes = 0
  #dropped = false

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  add(chunk: Uint8Array): void {
    const free = this.#maxBytes - this.#bytes
    if (chunk.length > free) this.#dropped = true
    if (free <= 0) return
    const retained = chunk.length > free ? chunk.subarray(0, free) : chunk
    this.#chunks.push(retained)
    this.#bytes += retained.length
  }

  /**
   * Returns the trimmed text. Invalid UTF-8 becomes U+FFFD. Truncated text loses an incomplete character and ends with a
   * line that states the limit.
   */
  text(): string {
    const text = new TextDecoder()
      .decode(Buffer.concat(this.#chunks), { stream: this.#dropped })
      .trim()
    return this.#dropped ? `${text}\n[output truncated at ${this.#maxBytes} bytes]` : text
  }
}
