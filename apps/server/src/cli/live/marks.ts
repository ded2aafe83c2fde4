/** Pure: the symbols of the view. */
import type { TaskStatus } from '@tutti/protocol'
import type { Style } from '../../terminal/line.ts'
import type { ProcessVariables } from '../../environment/env-table.ts'

/** Symbols for statuses, tool calls and text. */
export interface Marks {
  readonly status: Readonly<Record<TaskStatus, string>>
  readonly waiting: string
  readonly text: string
  readonly call: string
}

const UNICODE: Marks = {
  status: {
    PENDING: '○',
    RUNNING: '●',
    COMPLETED: '✔',
    FAILED: '✖',
    SKIPPED: '–',
    CANCELLED: '◼',
  },
  waiting: '?',
  text: '│',
  call: '→',
}

const ASCII: Marks = {
  status: {
    PENDING: '.',
    RUNNING: '*',
    COMPLETED: '+',
    FAILED: 'x',
    SKIPPED: '-',
    CANCELLED: '#',
  },
  waiting: '?',
  text: '|',
  call: '>',
}

/** Style of each task status. */
export const TASK_STATUS_STYLES: Readonly<Record<TaskStatus, Style>> = {
  PENDING: 'dim',
  RUNNING: 'cyan',
  COMPLETED: 'green',
  FAILED: 'red',
  SKIPPED: 'dim',
  CANCELLED: 'yellow',
}

/** Returns the symbols that the terminal can show: the Linux console and the old Windows console support few. */
export function marksFor(variables: ProcessVariables, platform: NodeJS.Platform): Marks {
  const isOldWindows =
    platform === 'win32' &&
    variables['WT_SESSION'] === undefined &&
    variables['TERM_PROGRAM'] === undefined
  return isOldWindows || variables['TERM'] === 'linux' ? ASCII : UNICODE
}
