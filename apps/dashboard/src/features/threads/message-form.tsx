/** The form for the next message of a thread. */
import { useState } from 'react'

import { readFailureText } from '../../api/failure.ts'
import { useCapabilities } from '../../api/use-capabilities.ts'
import { Button } from '../../ui/controls/button.tsx'
import { Select, TextArea } from '../../ui/controls/inputs.tsx'
import { Notice } from '../../ui/feedback/notice.tsx'
import { SendForm } from '../../ui/layout/send-form.tsx'
import styles from './threads.module.css'

import type { ThreadView } from '@tutti/react'

/** Shows the form if the server has an ensemble whose only input can be the message. */
export function MessageForm({ thread }: { readonly thread: ThreadView }) {
  const { runs, isBusy, send, cancel } = thread
  const { data } = useCapabilities()
  const [chosen, setChosen] = useState<string>()
  const [text, setText] = useState('')
  const [isSending, setSending] = useState(false)
  const [failure, setFailure] = useState<string>()
  const ensembles = (data?.ensembles ?? []).filter(({ variables }) => variables.length === 1)
  const wanted = chosen ?? runs.at(-1)?.ensemble
  const ensemble = ensembles.find(({ name }) => name === wanted) ?? ensembles[0]
  const [variable = ''] = ensemble?.variables ?? []
  if (data === undefined) return null
  if (ensemble === undefined) {
    return (
      <p className={styles['soft']}>
        No ensemble of this server has exactly one input, which could be a message.
      </p>
    )
  }
  const submit = async (): Promise<void> => {
    setSending(true)
    const error = await send({ ensemble: ensemble.name, inputs: { [variable]: text } })
    setSending(false)
    setFailure(error === undefined ? undefined : readFailureText(error))
    if (error === undefined) setText('')
  }
  const stop = async (): Promise<void> => {
    const error = await cancel()
    setFailure(error === undefined ? undefined : readFailureText(error))
  }
  return (
    <SendForm
      className={styles['form']}
      isBlocked={text.trim() === '' || isBusy || isSending}
      onSend={() => void submit()}
    >
      {failure !== undefined && <Notice tone="failed">{failure}</Notice>}
      <TextArea
        aria-label="Message"
        placeholder="Message"
        rows={2}
        value={text}
        onChange={({ target }) => setText(target.value)}
      />
      <div className={styles['actions']}>
        {ensembles.length > 1 && (
          <Select
            aria-label="Ensemble"
            value={ensemble.name}
            onChange={({ target }) => setChosen(target.value)}
          >
            {ensembles.map(({ name }) => (
              <option key={name}>{name}</option>
            ))}
          </Select>
        )}
        {isBusy ? (
          <Button onClick={() => void stop()}>Stop</Button>
        ) : (
          <Button type="submit" kind="primary" busy={isSending}>
            Send
          </Button>
        )}
      </div>
    </SendForm>
  )
}
