/** Text to look for; it is taken when the reader pauses, and at once with Enter. */
import { useEffect, useRef, useState, type Ref } from 'react'

import { TextInput } from '../../ui/controls/inputs.tsx'
import { MAX_TEXT_LENGTH } from './run-filter.ts'
import styles from './search-box.module.css'

/** Between two letters of somebody who types. */
const PAUSE_MS = 150

/** The box; `text` is what is looked for now. */
export function SearchBox({
  ref,
  text,
  onText,
}: {
  readonly ref: Ref<HTMLInputElement>
  readonly text: string
  readonly onText: (text: string) => void
}) {
  const [typed, setTyped] = useState(text)
  const [taken, setTaken] = useState(text)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])
  // Another part of the filter may change while the reader pauses.
  const latest = useRef({ text, onText })
  useEffect(() => {
    latest.current = { text, onText }
  })
  if (text !== taken) {
    setTaken(text)
    // What comes from elsewhere goes before what is typed; an answer to what is typed is no news.
    if (text !== typed.trim()) setTyped(text)
  }
  const take = (value: string): void => {
    clearTimeout(timer.current)
    const now = latest.current
    if (value.trim() !== now.text) now.onText(value.trim())
  }
  return (
    <span className={styles['box']}>
      <TextInput
        ref={ref}
        type="search"
        aria-label="Search runs"
        aria-keyshortcuts="/"
        placeholder="Id, tag or input"
        maxLength={MAX_TEXT_LENGTH}
        value={typed}
        onChange={({ target: { value } }) => {
          setTyped(value)
          clearTimeout(timer.current)
          timer.current = setTimeout(() => take(value), PAUSE_MS)
        }}
        onKeyDown={({ key }) => {
          if (key === 'Enter') take(typed)
        }}
      />
      {typed === '' && <kbd className={styles['key']}>/</kbd>}
    </span>
  )
}
