/** Several of a list: what is taken, each with a button that takes it out, and a select that adds one. */
import { X } from 'lucide-react'

import { cx } from '../../lib/cx.ts'
import { Field } from '../../ui/controls/field.tsx'
import { Select } from '../../ui/controls/inputs.tsx'
import { useErrors } from './body-fields.tsx'
import styles from './submit.module.css'

/** One that can be taken. */
export interface Pick {
  readonly value: string
  readonly label: string
}

/** The field; values that are none of `picks` are shown as they are. */
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
  /** What the select says, such as "Add a tool". */
  readonly add: string
  readonly values: readonly string[]
  readonly picks: readonly Pick[]
  readonly onChange: (values: readonly string[]) => void
}) {
  const errors = useErrors(path, values.length)
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
            <option value="">{left.length === 0 ? 'There are no others' : add}</option>
            {left.map((pick) => (
              <option key={pick.value} value={pick.value}>
                {pick.label}
              </option>
            ))}
          </Select>
        )}
      </Field>
      {values.length > 0 && (
        <ul className={styles['chips']} aria-label={`${label}, taken`}>
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
      <button type="button" aria-label={`Take out ${name}`} onClick={onRemove}>
        <X aria-hidden />
      </button>
    </li>
  )
}
