/** Asks for the key that the server wants. */
import { useEffect, useRef, useState, type FormEvent } from 'react'

import { tryKey, type KeyTrial } from '../../api/try-key.ts'
import { Button } from '../../ui/controls/button.tsx'
import { Field } from '../../ui/controls/field.tsx'
import { TextInput } from '../../ui/controls/inputs.tsx'
import { Notice } from '../../ui/feedback/notice.tsx'
import styles from './key-screen.module.css'
import { Wordmark } from './wordmark.tsx'

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
