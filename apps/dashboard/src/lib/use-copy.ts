/** Copies text to the clipboard and reports the result for a moment. */
import { useCallback, useEffect, useRef, useState } from 'react'

/** Time for which the result is shown, in milliseconds. */
const SHOWN_FOR_MS = 1_500

/** Result of the last copy; `idle` after `SHOWN_FOR_MS`. */
export type CopyState = 'idle' | 'copied' | 'failed'

/** Returns a function that copies text, and the result of its last call. */
export function useCopy(): readonly [copy: (text: string) => void, state: CopyState] {
  const [state, setState] = useState<CopyState>('idle')
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])
  const copy = useCallback((text: string) => {
    const report = (next: CopyState): void => {
      setState(next)
      clearTimeout(timer.current)
      timer.current = setTimeout(() => setState('idle'), SHOWN_FOR_MS)
    }
    // Pages in insecure contexts have no clipboard.
    const written = globalThis.navigator.clipboard?.writeText(text) ?? Promise.reject(new Error())
    written.then(
      () => report('copied'),
      () => report('failed'),
    )
  }, [])
  return [copy, state]
}
