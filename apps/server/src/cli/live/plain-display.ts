/** Progress as plain lines, for logs and pipes: one for each thing that happened, no escape codes. */
import { plainLines } from './plain-lines.ts'
import { toSingleLine, toTerminalText } from './text-width.ts'

import type { CommandIo } from '../command-io.ts'
import type { Display } from './display.ts'

/** What is told. */
export interface PlainOptions {
  /** Only what somebody has to do something about, and why the run failed. */
  readonly isQuiet: boolean
  /** First event to tell of, by its `seq`. */
  readonly from: number
}

/** Events that are told of even when quiet is asked for: nobody would know why nothing happens. */
const URGENT: ReadonlySet<string> = new Set(['review_requested'])

/** Makes such a display. */
export function plainDisplay({ stderr }: CommandIo, { isQuiet, from }: PlainOptions): Display {
  let isLost = false
  const say = (text: string): void => {
    stderr.write(`${toTerminalText(text)}\n`)
  }
  return {
    show(event, state) {
      if (event.seq < from) return
      const hasFailed = event.type === 'run_result' && event.status === 'FAILED'
      if (isQuiet && !URGENT.has(event.type) && !hasFailed) return
      for (const line of plainLines(event, state)) say(line)
    },
    connection(state) {
      if (state.status === 'reconnecting' && !isLost) {
        say(`Connection lost, trying again: ${toSingleLine(state.error.message)}`)
      } else if (state.status === 'open' && isLost) {
        say('Connected again')
      }
      isLost = state.status === 'reconnecting'
    },
    say,
    question() {},
    suspend() {},
    resume() {},
    end() {},
  }
}
