/** An object with any keys and simple values, as rows of names and values. */
import { isJsonObject } from '@tutti/protocol/internal'
import { Plus, X } from 'lucide-react'
import { useState } from 'react'

import { Button, IconButton } from '../controls/button.tsx'
import { Errors } from '../controls/field.tsx'
import { TextInput } from '../controls/inputs.tsx'
import { useForm } from './form-context.ts'
import { checkRows, type MapRow } from './map-rows.ts'
import styles from './schema-form.module.css'

import type { FormField } from './form-model.ts'

/** The rows. A row without a name and a value is not part of the value. */
export function MapField({
  field,
}: {
  readonly field: Extract<FormField, { readonly kind: 'map' }>
}) {
  const { errors, broken, set, remove, setBroken } = useForm()
  const { pointer, label, value, look } = field
  const { rows, change } = useRows(value, broken[pointer]?.text, (next) => {
    const checked = checkRows(next)
    if (!checked.ok) setBroken(pointer, { text: JSON.stringify(next), why: checked.why })
    else if (next.length === 0 && !field.isRequired) remove(pointer)
    else set(pointer, checked.value)
  })
  const one = (look.none ?? label).toLowerCase()
  const note = [field.description, field.hint].filter(Boolean).join(' · ')
  const edit = (at: number, part: Partial<MapRow>): void =>
    change(rows.map((row, index) => (index === at ? { ...row, ...part } : row)))
  return (
    <fieldset data-pointer={pointer} className={styles['rows']}>
      <legend>{label}</legend>
      {note !== '' && <p className={styles['soft']}>{note}</p>}
      {rows.map((row, at) => (
        <div key={row.key} className={styles['row']}>
          <TextInput
            aria-label={`Name of ${one} ${at + 1}`}
            placeholder="name"
            autoComplete="off"
            value={row.name}
            onChange={({ target }) => edit(at, { name: target.value })}
          />
          <TextInput
            aria-label={`Value of ${one} ${at + 1}`}
            placeholder="value"
            autoComplete="off"
            value={String(row.value)}
            onChange={({ target }) => edit(at, { value: target.value })}
          />
          <IconButton
            label={`Remove ${one} ${at + 1}`}
            icon={<X />}
            onClick={() => change(rows.toSpliced(at, 1))}
          />
        </div>
      ))}
      <Errors errors={errors(pointer)} />
      <div>
        <Button
          size="s"
          icon={<Plus />}
          onClick={() =>
            change([...rows, { key: 1 + (rows.at(-1)?.key ?? 0), name: '', value: '' }])
          }
        >
          {`Add ${one}`}
        </Button>
      </div>
    </fieldset>
  )
}

/** Returns the rows as they were edited, as long as the value is the same. */
function useRows(
  value: unknown,
  text: string | undefined,
  onChange: (rows: readonly MapRow[]) => void,
) {
  const [edited, setEdited] = useState<readonly MapRow[]>([])
  const checked = checkRows(edited)
  const given = isJsonObject(value) ? value : {}
  const isSame = checked.ok && JSON.stringify(checked.value) === JSON.stringify(given)
  const read = (): readonly MapRow[] => {
    // NOTE: only `MapField` writes this text.
    if (text !== undefined) return JSON.parse(text) as readonly MapRow[]
    if (isSame) return edited
    return Object.entries(given).map(([name, one], key) => ({ key, name, value: one }))
  }
  return {
    rows: read(),
    change(rows: readonly MapRow[]) {
      setEdited(rows)
      onChange(rows)
    },
  }
}
