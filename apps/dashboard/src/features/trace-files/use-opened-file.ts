/** The file that is open, from the moment that somebody chose it. */
import { useCallback, useRef, useState } from 'react'

import { failureText } from '../../api/failure.ts'
import { readingTraceFile, sizeProblem, type ReadFile } from './read-trace-file.ts'

import type { Problem } from '@tutti/protocol'

/** What is shown. */
export type OpenedFile =
  | { readonly phase: 'none' }
  | {
      readonly phase: 'reading'
      readonly name: string
      /** How much is done, from 0 to 1. */
      readonly done: number
    }
  | {
      readonly phase: 'failed'
      readonly name: string
      readonly reason: string
      readonly problems: readonly Problem[]
    }
  | (Extract<ReadFile, { ok: true }> & {
      readonly phase: 'open'
      readonly name: string
      /** Which file it is, from 1. */
      readonly count: number
    })

/** The file, and how to open another one or none. */
export function useOpenedFile() {
  const [opened, setOpened] = useState<OpenedFile>({ phase: 'none' })
  const count = useRef(0)
  const open = useCallback((file: File) => {
    const own = (count.current += 1)
    const { name } = file
    // The last file that was chosen is shown, however long each takes.
    const isLast = (): boolean => own === count.current
    const tell = (done: number): boolean => {
      if (isLast()) setOpened({ phase: 'reading', name, done })
      return isLast()
    }
    tell(0)
    void read(file, tell).then((result) => {
      if (!isLast() || result === undefined) return
      if (result.ok) setOpened({ ...result, phase: 'open', name, count: own })
      else setOpened({ phase: 'failed', name, reason: result.reason, problems: result.problems })
    })
  }, [])
  const close = useCallback(() => {
    count.current += 1
    setOpened({ phase: 'none' })
  }, [])
  return { opened, open, close }
}

/** Reads a file in pieces, between which the page can be drawn; undefined when nobody waits for it. */
async function read(file: File, tell: (done: number) => boolean): Promise<ReadFile | undefined> {
  const reason = sizeProblem(file.size)
  if (reason !== undefined) return { ok: false, reason, problems: [] }
  try {
    const reading = readingTraceFile(await file.text())
    for (;;) {
      await turn()
      const step = reading.next()
      if (step.done === true) return step.value
      if (!tell(step.value)) return undefined
    }
  } catch (error) {
    return { ok: false, reason: `The file cannot be read: ${failureText(error)}`, problems: [] }
  }
}

function turn(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, 0)
  })
}
