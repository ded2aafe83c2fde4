/** Shows progress as plain lines without escape codes, for logs and pipes. */
import { GroupedLines } from './grouped-lines.ts'
import { toSingleLine, toTerminalText } from '../../terminal/text-width.ts'

import type { CommandIo } from '../../terminal/command-io.ts'
import type { Display } from './display.ts'

export interface PlainOptions {
  /** Whether to print only requested reviews and the failure of the run. */
  readonly isQuiet: boolean
  /** `seq` of the first event to print. */
  readonly from: number
}

/** Events that are printed in quiet mode, too, because the run waits for the user. */
const URGENT: ReadonlySet<string> = new Set(['review_requested'])

/** Creates a plain display. */
export function plainDisplay({ stderr }: CommandIo, { isQuiet, from }: PlainOptions): Display {
  let isLost = false
  const grouped = new GroupedLines()
  const print = (text: string): void => {
    stderr.write(`${toTerminalText(text)}\n`)
  }
  return {
    show(event, run) {
      // Earlier events are counted, too.
      const lines = grouped.lines(event, run)
      if (event.seq < from) return
      const hasFailed = event.type === 'run_result' && event.status === 'FAILED'
      if (isQuiet && !URGENT.has(event.type) && !hasFailed) return
      for (const line of lines) print(line)
    },
    connection(state) {
      if (state.status === 'reconnecting' && !isLost) {
        print(`Connection lost, retrying: ${toSingleLine(state.error.message)}`)
      } else if (state.status === 'open' && isLost) {
        print('Reconnected')
      }
      isLost = state.status === 'reconnecting'
    },
    print,
    question() {},
    suspend() {},
    resume() {},
    end() {},
  }
}
