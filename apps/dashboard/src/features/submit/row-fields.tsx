/** Names with their values, as many as somebody wants. */
import { Plus, X } from 'lucide-react'

import { Button, IconButton } from '../../ui/controls/button.tsx'
import { TextInput } from '../../ui/controls/inputs.tsx'
import { useErrors } from './body-fields.tsx'
import { nextKey, type Row } from './draft.ts'
import styles from './submit.module.css'

/** The rows; `one` is what a row is called, such as "tag". */
export function RowFields({
  path,
  label,
  one,
  add,
  hint,
  rows,
  onChange,
}: {
  readonly path: string
  readonly label: string
  readonly one: string
  readonly add: string
  readonly hint?: string
  readonly rows: readonly Row[]
  readonly onChange: (rows: readonly Row[]) => void
}) {
  const errors = useErrors(path)
  const change = (at: number, part: Partial<Row>): void =>
    onChange(rows.map((row, index) => (index === at ? { ...row, ...part } : row)))
  return (
    <fieldset data-pointer={path} className={styles['rows']}>
      <legend>{label}</legend>
      {hint !== undefined && <p className={styles['soft']}>{hint}</p>}
      {rows.map(({ key, name, value }, at) => (
        <div key={key} className={styles['row']}>
          <TextInput
            aria-label={`Name of ${one} ${at + 1}`}
            placeholder="name"
            autoComplete="off"
            value={name}
            onChange={({ target }) => change(at, { name: target.value })}
          />
          <TextInput
            aria-label={`Value of ${one} ${at + 1}`}
            placeholder="value"
            autoComplete="off"
            value={value}
            onChange={({ target }) => change(at, { value: target.value })}
          />
          <IconButton
            label={`Remove ${one} ${at + 1}`}
            icon={<X />}
            onClick={() => onChange(rows.toSpliced(at, 1))}
          />
        </div>
      ))}
      {errors.length > 0 && (
        <ul className={styles['errors']}>
          {errors.map((error) => (
            <li key={error}>{error}</li>
          ))}
        </ul>
      )}
      <div>
        <Button
          size="s"
          icon={<Plus />}
          onClick={() => onChange([...rows, { key: nextKey(rows, 'r'), name: '', value: '' }])}
        >
          {add}
        </Button>
      </div>
    </fieldset>
  )
}
