/** A list of texts that are selected from choices. */
import { X } from 'lucide-react'

import { cx } from '../../lib/cx.ts'
import { Field } from '../controls/field.tsx'
import { Select } from '../controls/inputs.tsx'
import { useForm } from './form-context.ts'
import styles from './schema-form.module.css'

import type { FormField } from './form-model.ts'

/** The field. Values that are not among its choices are shown too. */
export function PicksField({
  field,
}: {
  readonly field: Extract<FormField, { readonly kind: 'picks' }>
}) {
  const { errors, set, remove } = useForm()
  const { pointer, label, description, value, look } = field
  const { choices = [] } = look
  const values: readonly unknown[] = Array.isArray(value) ? value : []
  const left = choices.filter((choice) => !values.includes(choice.value))
  const change = (next: readonly unknown[]): void =>
    next.length === 0 ? remove(pointer) : set(pointer, next)
  return (
    <div data-pointer={pointer} className={styles['picks']}>
      <Field label={label} hint={description} errors={errors(pointer)}>
        {(control) => (
          <Select
            {...control}
            disabled={left.length === 0}
            value=""
            onChange={({ target }) => change([...values, target.value])}
          >
            <option value="">{left.length === 0 ? 'No more options' : look.none}</option>
            {left.map((choice) => (
              <option key={String(choice.value)} value={String(choice.value)}>
                {choice.label}
              </option>
            ))}
          </Select>
        )}
      </Field>
      {values.length > 0 && (
        <ul className={styles['chips']} aria-label={`${label}, selected`}>
          {values.map((one, at) => {
            const name = choices.find((choice) => choice.value === one)?.label ?? String(one)
            const isWrong = errors(`${pointer}/${at}`).length > 0
            return (
              <li
                key={String(one)}
                className={cx(styles['chip'], isWrong && styles['wrong'])}
                data-pointer={`${pointer}/${at}`}
              >
                <span>{name}</span>
                <button
                  type="button"
                  aria-label={`Deselect ${name}`}
                  onClick={() => change(values.toSpliced(at, 1))}
                >
                  <X aria-hidden />
                </button>
              </li>
            )
          })}
        </ul>
      )}
    </div>
  )
}
