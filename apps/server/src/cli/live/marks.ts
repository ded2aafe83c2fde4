/** Pure: the signs of the view. */
import type { TaskStatus } from '@tutti/protocol'
import type { Style } from './line.ts'

/** A sign for each status, and those of tool calls and text. */
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

/** How each status looks. */
export const STATUS_STYLE: Readonly<Record<TaskStatus, Style>> = {
  PENDING: 'dim',
  RUNNING: 'cyan',
  COMPLETED: 'green',
  FAILED: 'red',
  SKIPPED: 'dim',
  CANCELLED: 'yellow',
}

/** The signs that the terminal can show: the Linux console and the old one of Windows have few. */
export function marksFor(variables: NodeJS.ProcessEnv, platform: NodeJS.Platform): Marks {
  const isOldWindows =
    platform === 'win32' &&
    variables['WT_SESSION'] === undefined &&
    variables['TERM_PROGRAM'] === undefined
  return isOldWindows || variables['TERM'] === 'linux' ? ASCII : UNICODE
}
