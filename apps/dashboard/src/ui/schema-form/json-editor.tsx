/** Edits a value as JSON text. Invalid text stays as typed. */
import { useState } from 'react'

import { TextArea } from '../controls/inputs.tsx'
import { parseJsonDraft } from './form-draft.ts'

import type { FieldControl } from '../controls/field.tsx'

/** The editor; `text` is the current text if it is not valid JSON. */
export function JsonEditor({
  value,
  text,
  control,
  rows = 4,
  onText,
}: {
  readonly value: unknown
  readonly text: string | undefined
  readonly control: Partial<FieldControl> & { readonly 'aria-label'?: string }
  readonly rows?: number
  readonly onText: (text: string) => void
}) {
  const [typed, setTyped] = useState('')
  const pretty = value === undefined ? '' : JSON.stringify(value, undefined, 2)
  const read = parseJsonDraft(typed)
  // Keep the typed formatting as long as the value is the same.
  const isSame = read.ok && JSON.stringify(read.value) === JSON.stringify(value)
  return (
    <TextArea
      {...control}
      code
      rows={rows}
      autoComplete="off"
      autoCapitalize="off"
      value={text ?? (isSame ? typed : pretty)}
      onChange={({ target }) => {
        setTyped(target.value)
        onText(target.value)
      }}
    />
  )
}
