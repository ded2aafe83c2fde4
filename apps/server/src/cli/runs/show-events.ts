/** Runs `tutti events`. */
import { RunStateFold, type LoggedRunEvent, type RunEvent } from '@tutti/protocol'

import { CommandError } from '../command-error.ts'
import { plainLines } from '../live/plain-lines.ts'
import { toSingleLine, toTerminalText } from '../../terminal/text-width.ts'
import { toTerminalJson, writeOut } from '../../terminal/print.ts'
import { connectTo, type TargetOptions } from '../target.ts'

import type { TuttiClient } from '@tutti/client'
import type { CommandContext } from '../command-context.ts'

/** Options of `tutti events`. */
export interface EventsSettings {
  readonly follow?: boolean
  readonly from?: number
  readonly type?: readonly RunEvent['type'][]
  readonly json?: boolean
}

/** Prints the events in the log and, with `follow`, the following ones. Ctrl-C leaves. */
export async function showEvents(
  runId: string,
  options: TargetOptions & EventsSettings,
  context: CommandContext,
): Promise<void> {
  const { io } = context
  const { follow = false, from = 0, type, json = false } = options
  const { runs } = connectTo(options, context)
  const { lastSeq } = await runs.get(runId)
  const first = from < 0 ? Math.max(0, lastSeq + 1 + from) : from
  if (first > lastSeq && !follow) return
  const leaving = new AbortController()
  const interrupted = new CommandError('INTERRUPTED', 'Stopped following; the run continues')
  const stop = io.onSignal(() => leaving.abort(interrupted))
  try {
    const run = new RunStateFold()
    for await (const event of readEvents(runs, {
      runId,
      from: json ? first : 0,
      signal: leaving.signal,
    })) {
      if (!json) run.take(event)
      const isWanted = event.seq >= first && (type === undefined || type.includes(event.type))
      if (isWanted)
        await writeOut(
          io,
          json ? `${toTerminalJson(event)}\n` : formatEventLine(event, plainLines(event, run)),
        )
      if (!follow && event.seq >= lastSeq) return
    }
  } catch (error) {
    throw leaving.signal.aborted ? interrupted : error
  } finally {
    stop()
  }
}

function readEvents(
  runs: TuttiClient['runs'],
  {
    runId,
    ...options
  }: { readonly runId: string; readonly from: number; readonly signal: AbortSignal },
): AsyncIterable<LoggedRunEvent> {
  return runs.events(runId, options)
}

/** Formats an event as one line: its number, its type, and its text in the plain progress. */
function formatEventLine(
  { seq, type, ...event }: LoggedRunEvent,
  lines: readonly string[],
): string {
  const taskName = 'taskName' in event && event.taskName !== undefined ? event.taskName : ''
  // The plain line starts with a time in brackets.
  const text = lines.map((line) => line.replace(/^\[[^\]]*\] /, '')).join('; ')
  return `${toTerminalText(`${seq}  ${type}  ${text === '' ? toSingleLine(taskName) : text}`).trimEnd()}\n`
}
