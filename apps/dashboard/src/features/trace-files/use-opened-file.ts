/** Reads the chosen file and holds its state. */
import { useCallback, useRef, useState } from 'react'

import { readFailureText } from '../../api/failure.ts'
import { readTraceFileInSteps, findSizeProblem, type ReadFile } from './read-trace-file.ts'

import type { Problem } from '@tutti/protocol/internal'

/** State of the file. */
export type OpenedFile =
  | { readonly phase: 'none' }
  | {
      readonly phase: 'reading'
      readonly name: string
      /** Progress, from 0 to 1. */
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
      /** Number of the file, starting at 1. */
      readonly count: number
    })

/** Returns the state of the file, and functions that open and close it. */
export function useOpenedFile() {
  const [opened, setOpened] = useState<OpenedFile>({ phase: 'none' })
  const count = useRef(0)
  const open = useCallback((file: File) => {
    const own = (count.current += 1)
    const { name } = file
    // Only the file chosen last is shown, however long each one takes.
    const isLast = (): boolean => own === count.current
    const report = (done: number): boolean => {
      if (isLast()) setOpened({ phase: 'reading', name, done })
      return isLast()
    }
    report(0)
    void readFile(file, report).then((result) => {
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

/**
 * Reads a file in slices, between which the page can render; undefined if another file was chosen
 * meanwhile.
 */
async function readFile(
  file: File,
  report: (done: number) => boolean,
): Promise<ReadFile | undefined> {
  const reason = findSizeProblem(file.size)
  if (reason !== undefined) return { ok: false, reason, problems: [] }
  try {
    const reading = readTraceFileInSteps(await file.text())
    for (;;) {
      await yieldToPage()
      const step = reading.next()
      if (step.done === true) return step.value
      if (!report(step.value)) return undefined
    }
  } catch (error) {
    return { ok: false, reason: `Failed to read the file: ${readFailureText(error)}`, problems: [] }
  }
}

function yieldToPage(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, 0)
  })
}
