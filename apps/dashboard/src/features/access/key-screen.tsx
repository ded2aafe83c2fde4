/** Asks for the API key that the server requires. */
import { useEffect, useRef, useState, type FormEvent } from 'react'
import { createClient } from '@tutti/client'

import { Button } from '../../ui/controls/button.tsx'
import { Field } from '../../ui/controls/field.tsx'
import { TextInput } from '../../ui/controls/inputs.tsx'
import { Notice } from '../../ui/feedback/notice.tsx'
import { findFailureCode, readFailureText } from '../../api/failure.ts'
import styles from './key-screen.module.css'

/** Replaces the whole page while there is no accepted key. */
export function KeyScreen({
  wasRefused,
  onKey,
}: {
  /** Whether an earlier key was rejected. */
  readonly wasRefused: boolean
  readonly onKey: (key: string) => void
}) {
  const [trial, setTrial] = useState<KeyCheck>()
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
    const next = await checkKey(key)
    setTrying(false)
    setTrial(next)
    if (next.answer === 'taken') onKey(key)
    else focus()
  }
  return (
    <main className={styles['page']}>
      <div className={styles['card']}>
        <Wordmark />
        <h1>{wasRefused ? 'Your key is no longer accepted' : 'This server requires a key'}</h1>
        {wasRefused && (
          <p className={styles['soft']}>
            It has expired or was removed from the server. Enter another key to continue where you
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
            {isTrying ? 'Checking the key' : 'Sign in'}
          </Button>
          {trial?.answer === 'away' && <Notice tone="failed">{trial.text}</Notice>}
        </form>
        <div className={styles['help']}>
          <p>
            A key identifies you and defines what you may do. Ask the operator of this server for
            one. Keys are configured in <code>TUTTI_API_KEYS</code>, or under <code>auth</code> in{' '}
            <code>tutti.config.ts</code>.
          </p>
          <p>The key is stored in this tab until you close it, and is sent only to this server.</p>
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

/** Timeout of the check in milliseconds; short, because the reader is waiting. */
const TIMEOUT_MS = 10_000

/** Result of checking a key; `text` is for the reader. */
type KeyCheck =
  | { readonly answer: 'taken' }
  | { readonly answer: 'refused' | 'away'; readonly text: string }

/** Checks a key with a request that needs it. */
async function checkKey(key: string): Promise<KeyCheck> {
  if (!/^[\x21-\x7e]+$/.test(key)) {
    return {
      answer: 'refused',
      text: 'A key contains only ASCII letters, digits and symbols, without spaces.',
    }
  }
  const client = createClient({ baseUrl: './', apiKey: key, timeoutMs: TIMEOUT_MS, maxRepeats: 0 })
  try {
    await client.status()
    return { answer: 'taken' }
  } catch (error) {
    return describeRejection(error)
  }
}

function describeRejection(error: unknown): KeyCheck {
  switch (findFailureCode(error)) {
    case 'UNAUTHORIZED':
      return { answer: 'refused', text: `The server rejected this key: ${readFailureText(error)}` }
    case 'FORBIDDEN':
      return {
        answer: 'refused',
        text: 'This key does not have the scope runs:read, which the dashboard requires.',
      }
    case 'CONNECTION_FAILED':
    case 'TIMED_OUT':
      return { answer: 'away', text: 'The server did not respond, so the key was not checked.' }
    default:
      return { answer: 'away', text: `Failed to check the key: ${readFailureText(error)}` }
  }
}
