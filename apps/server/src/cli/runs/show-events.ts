/** Runs `tutti events`. */
import { applyRunEvent, emptyRunState, type LoggedRunEvent, type RunEvent } from '@tutti/protocol'

import { CommandError } from '../command-error.ts'
import { plainLines } from '../live/plain-lines.ts'
import { toSingleLine, toTerminalText } from '../live/text-width.ts'
import { toTerminalJson, writeOut } from '../text/print.ts'
import { connectTo, type TargetOptions } from '../target.ts'

import type { TuttiClient } from '@tutti/client'
import type { CommandContext } from '../command-context.ts'

/** Which events, and how. */
export interface EventsSettings {
  readonly follow?: boolean
  readonly from?: number
  readonly type?: readonly RunEvent['type'][]
  readonly json?: boolean
}

/** Writes the events that are in the log; with `follow`, also those to come. Ctrl-C leaves. */
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
    let state = emptyRunState()
    for await (const event of eventsOf(runs, {
      runId,
      from: json ? first : 0,
      signal: leaving.signal,
    })) {
      if (!json) state = applyRunEvent(state, event)
      const isWanted = event.seq >= first && (type === undefined || type.includes(event.type))
      if (isWanted)
        await writeOut(
          io,
          json ? `${toTerminalJson(event)}\n` : lineOf(event, plainLines(event, state)),
        )
      if (!follow && event.seq >= lastSeq) return
    }
  } catch (error) {
    throw leaving.signal.aborted ? interrupted : error
  } finally {
    stop()
  }
}

function eventsOf(
  runs: TuttiClient['runs'],
  {
    runId,
    ...options
  }: { readonly runId: string; readonly from: number; readonly signal: AbortSignal },
): AsyncIterable<LoggedRunEvent> {
  return runs.events(runId, options)
}

/** An event as one line: its place, its type, and what the progress of a run says of it. */
function lineOf({ seq, type, ...event }: LoggedRunEvent, lines: readonly string[]): string {
  const taskName = 'taskName' in event && event.taskName !== undefined ? event.taskName : ''
  // The time since the start comes first, in brackets.
  const words = lines.map((line) => line.replace(/^\[[^\]]*\] /, '')).join('; ')
  return `${toTerminalText(`${seq}  ${type}  ${words === '' ? toSingleLine(taskName) : words}`).trimEnd()}\n`
}
