/** Fields for lists: values to pick, and rows of names and values. */
import { X, Plus } from 'lucide-react'

import { cx } from '../../lib/cx.ts'
import { Field } from '../../ui/controls/field.tsx'
import { Select, TextInput } from '../../ui/controls/inputs.tsx'
import { Button, IconButton } from '../../ui/controls/button.tsx'
import { useErrors } from './body-fields.tsx'
import { createKey, type NamedValue } from './draft.ts'
import styles from './submit.module.css'

/** A value to pick. */
export interface Pick {
  readonly value: string
  readonly label: string
}

/** A multi-select. Values outside of `picks` are shown too. */
export function PickField({
  path,
  label,
  hint,
  add,
  values,
  picks,
  onChange,
}: {
  readonly path: string
  readonly label: string
  readonly hint?: string
  /** Label of the empty option, such as "Add tool". */
  readonly add: string
  readonly values: readonly string[]
  readonly picks: readonly Pick[]
  readonly onChange: (values: readonly string[]) => void
}) {
  const errors = useErrors(path, { items: values.length })
  const left = picks.filter(({ value }) => !values.includes(value))
  return (
    <div data-pointer={path} className={styles['pick']}>
      <Field label={label} errors={errors} {...(hint === undefined ? {} : { hint })}>
        {(control) => (
          <Select
            {...control}
            disabled={left.length === 0}
            value=""
            onChange={({ target }) => onChange([...values, target.value])}
          >
            <option value="">{left.length === 0 ? 'No more options' : add}</option>
            {left.map((pick) => (
              <option key={pick.value} value={pick.value}>
                {pick.label}
              </option>
            ))}
          </Select>
        )}
      </Field>
      {values.length > 0 && (
        <ul className={styles['chips']} aria-label={`${label}, selected`}>
          {values.map((value, at) => (
            <PickedChip
              key={value}
              path={`${path}/${at}`}
              name={picks.find((pick) => pick.value === value)?.label ?? value}
              onRemove={() => onChange(values.toSpliced(at, 1))}
            />
          ))}
        </ul>
      )}
    </div>
  )
}

function PickedChip({
  path,
  name,
  onRemove,
}: {
  readonly path: string
  readonly name: string
  readonly onRemove: () => void
}) {
  const isWrong = useErrors(path).length > 0
  return (
    <li className={cx(styles['chip'], isWrong && styles['wrong'])} data-pointer={path}>
      <span>{name}</span>
      <button type="button" aria-label={`Deselect ${name}`} onClick={onRemove}>
        <X aria-hidden />
      </button>
    </li>
  )
}

/** Rows of names and values; `one` names a row, such as "tag". */
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
  readonly rows: readonly NamedValue[]
  readonly onChange: (rows: readonly NamedValue[]) => void
}) {
  const errors = useErrors(path, { isGroup: path === '/inputs' })
  const change = (at: number, part: Partial<NamedValue>): void =>
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
          onClick={() => onChange([...rows, { key: createKey(rows, 'r'), name: '', value: '' }])}
        >
          {add}
        </Button>
      </div>
    </fieldset>
  )
}
