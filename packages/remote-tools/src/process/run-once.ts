/**
 * One call by a program of its own: the subprocess protocol of the remote tools seed.
 *
 *   {"input": …} ─stdin─▶ program ─stdout, stderr, exit─▶ ToolResult
 *
 * O1 The request is compact JSON without a newline, and stdin is closed after it. A program that does
 *    not read it is none the worse.
 * O2 Writing and reading go on at the same time, so that neither side waits for the other.
 * O3 A call that is aborted ends when its program has, and all it has started is ended with it.
 */
import { errorMessage, ToolResult, type ToolContext } from '@tutti/core'
import { startProcess, type ProcessExit, type RunningProcess } from '@tutti/net'

import { logDebug } from './log-debug.ts'
import { readProcessAnswer } from './read-answer.ts'

import type { ResolvedProgramOptions } from './options.ts'

/** One call of a process tool. */
export interface ProcessCall {
  readonly input: unknown
  readonly context: ToolContext
}

/** Starts the program, gives it the input and reads its answer; `closing` ends it as the call's signal does. */
export async function runOnce(
  { input, context }: ProcessCall,
  options: ResolvedProgramOptions,
  { closing }: { readonly closing: AbortSignal },
): Promise<ToolResult> {
  const { signal, logger } = context
  if (signal.aborted) return interrupted(options, signal)
  const request = JSON.stringify({ input })
  const start = await startProcess(options, callVariables(context))
  if (!start.ok) return ToolResult.failure(start.message)
  const { process: program } = start
  const stdout = collect(program.stdout, options.maxOutputBytes)
  const stderr = collect(program.stderr, options.maxOutputBytes)
  program.stdin.on('error', (error) => {
    logDebug(logger, 'Program did not read its input', { command: options.command, error })
  })
  program.stdin.end(request)
  const exit = await exitOrEnd(program, [signal, closing])
  if (exit === undefined) return interrupted(options, signal.aborted ? signal : closing)
  const said = stderr.text()
  if (exit.code !== 0) return ToolResult.failure(exitFailure(exit, said))
  if (said !== '') {
    logDebug(logger, 'Program wrote to stderr', { command: options.command, stderr: said })
  }
  return readProcessAnswer(stdout.text(), options)
}

/** What a call that was aborted comes to. */
export function interrupted({ command }: ResolvedProgramOptions, signal: AbortSignal): ToolResult {
  return ToolResult.failure(`Process "${command}" was ended: ${errorMessage(signal.reason)}`)
}

/**
 * What a program is told of its call, besides the input.
 *
 * @see https://opentelemetry.io/docs/specs/otel/context/env-carriers/ on the names of the trace
 */
function callVariables({
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

/** How the program ended by itself; nothing when a signal aborted first, and all of it is gone. */
async function exitOrEnd(
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

/** Why a program failed that did not exit with code 0: what it says itself, or how it ended. */
function exitFailure({ code, signal }: ProcessExit, stderr: string): string {
  if (signal === null) return stderr === '' ? `Process exited with code ${code}` : stderr
  return `Process was killed by ${signal}${stderr === '' ? '' : `: ${stderr}`}`
}

/** Runs calls, and ends those in flight when it is closed. */
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

  /** Ends the calls in flight; resolves when they have ended. Never rejects. */
  async close(): Promise<void> {
    this.#closing.abort(new Error('Tool is closed'))
    await Promise.allSettled(this.#inFlight)
  }
}

/** Keeps the first bytes of a stream and drops the rest. */
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
    const kept = chunk.length > free ? chunk.subarray(0, free) : chunk
    this.#chunks.push(kept)
    this.#bytes += kept.length
  }

  /**
   * The text without blanks at its ends. Bytes that are no UTF-8 are U+FFFD; a character that the bound
   * cuts in two is left out, and a line says that and where it was cut.
   */
  text(): string {
    const text = new TextDecoder()
      .decode(Buffer.concat(this.#chunks), { stream: this.#dropped })
      .trim()
    return this.#dropped ? `${text}\n[output truncated at ${this.#maxBytes} bytes]` : text
  }
}
