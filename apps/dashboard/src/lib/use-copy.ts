/** Copies text to the clipboard and says for a moment that it did. */
import { useCallback, useEffect, useRef, useState } from 'react'

/** Long enough to be seen, short enough not to be in the way of a second copy. */
const SAID_FOR_MS = 1_500

/** How the last copy went; `idle` when it was a while ago. */
export type CopyState = 'idle' | 'copied' | 'failed'

/** A function that copies, and how its last call went. */
export function useCopy(): readonly [copy: (text: string) => void, state: CopyState] {
  const [state, setState] = useState<CopyState>('idle')
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])
  const copy = useCallback((text: string) => {
    const say = (next: CopyState): void => {
      setState(next)
      clearTimeout(timer.current)
      timer.current = setTimeout(() => setState('idle'), SAID_FOR_MS)
    }
    // Pages that were not served over a safe connection have no clipboard.
    const written = globalThis.navigator.clipboard?.writeText(text) ?? Promise.reject(new Error())
    written.then(
      () => say('copied'),
      () => say('failed'),
    )
  }, [])
  return [copy, state]
}
