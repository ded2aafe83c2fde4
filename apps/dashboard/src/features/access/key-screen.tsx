/** Asks for the key that the server wants. */
import { useEffect, useRef, useState, type FormEvent } from 'react'
import { createClient } from '@tutti/client'

import { Button } from '../../ui/controls/button.tsx'
import { Field } from '../../ui/controls/field.tsx'
import { TextInput } from '../../ui/controls/inputs.tsx'
import { Notice } from '../../ui/feedback/notice.tsx'
import { failureCode, failureText } from '../../api/failure.ts'
import styles from './key-screen.module.css'

/** The whole page while there is no key that the server takes. */
export function KeyScreen({
  wasRefused,
  onKey,
}: {
  /** Whether a key was given, and refused. */
  readonly wasRefused: boolean
  readonly onKey: (key: string) => void
}) {
  const [trial, setTrial] = useState<KeyTrial>()
  const [isTrying, setTrying] = useState(false)
  const form = useRef<HTMLFormElement>(null)
  const input = (): HTMLInputElement | null => form.current?.querySelector('input') ?? null
  const focus = (): void => input()?.focus()
  useEffect(() => form.current?.querySelector('input')?.focus(), [])
  const submit = async (event: FormEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault()
    if (isTrying) return
    const key = input()?.value.trim() ?? ''
    if (key === '') {
      setTrial({ answer: 'refused', text: 'Enter a key.' })
      focus()
      return
    }
    setTrying(true)
    const next = await tryKey(key)
    setTrying(false)
    setTrial(next)
    if (next.answer === 'taken') onKey(key)
    else focus()
  }
  return (
    <main className={styles['page']}>
      <div className={styles['card']}>
        <Wordmark />
        <h1>{wasRefused ? 'Your key is no longer taken' : 'This server asks for a key'}</h1>
        {wasRefused && (
          <p className={styles['soft']}>
            It has expired, or was taken off the server. With another one you come back to where you
            were.
          </p>
        )}
        <form ref={form} className={styles['form']} onSubmit={(event) => void submit(event)}>
          <Field label="Key" required errors={trial?.answer === 'refused' ? [trial.text] : []}>
            {(control) => (
              <TextInput
                {...control}
                type="password"
                name="key"
                autoComplete="current-password"
                autoCapitalize="none"
                spellCheck={false}
                onChange={() => setTrial(undefined)}
              />
            )}
          </Field>
          <Button type="submit" kind="primary" busy={isTrying}>
            {isTrying ? 'Trying the key' : 'Go on'}
          </Button>
          {trial?.answer === 'away' && <Notice tone="failed">{trial.text}</Notice>}
        </form>
        <div className={styles['help']}>
          <p>
            A key says who you are and what you may do. Whoever runs this server gives them out:
            they are in <code>TUTTI_API_KEYS</code>, or under <code>auth</code> in{' '}
            <code>tutti.config.ts</code>.
          </p>
          <p>It is kept in this tab until you close it, and sent to this server alone.</p>
        </div>
      </div>
    </main>
  )
}

function Wordmark() {
  return (
    <p className={styles['wordmark']}>
      <svg viewBox="0 0 16 16" aria-hidden>
        <path d="M2.5 11a5.5 5.5 0 0 1 11 0" />
        <circle cx="8" cy="10.6" r="1.7" />
      </svg>
      Tutti
    </p>
  )
}

/** Whoever waits for an answer to a key looks at the page. */
const TIMEOUT_MS = 10_000

/** What the server says to a key; `text` is for the reader. */
type KeyTrial =
  | { readonly answer: 'taken' }
  | { readonly answer: 'refused' | 'away'; readonly text: string }

/** Tries a key. It goes in a header, as every later one does. */
async function tryKey(key: string): Promise<KeyTrial> {
  if (!/^[\x21-\x7e]+$/.test(key)) {
    return { answer: 'refused', text: 'A key has letters, digits and signs only, and no spaces.' }
  }
  const client = createClient({ baseUrl: './', apiKey: key, timeoutMs: TIMEOUT_MS, maxRepeats: 0 })
  try {
    await client.status()
    return { answer: 'taken' }
  } catch (error) {
    return trialOf(error)
  }
}

function trialOf(error: unknown): KeyTrial {
  switch (failureCode(error)) {
    case 'UNAUTHORIZED':
      return { answer: 'refused', text: `The server refused this key: ${failureText(error)}` }
    case 'FORBIDDEN':
      return {
        answer: 'refused',
        text: 'The server knows this key, but it may not read runs (scope "runs:read").',
      }
    case 'CONNECTION_FAILED':
    case 'TIMED_OUT':
      return { answer: 'away', text: 'The server does not answer. The key was not tried.' }
    default:
      return { answer: 'away', text: `The key could not be tried: ${failureText(error)}` }
  }
}
